"""How long after a loss work goes on at another node, as the nodes' own metrics tell."""

import re
import time

from hosts import Hosts

TAKEOVERS = "skynode_takeovers_total"
ATTEMPTS = "skynode_attempts_total"
# By then all nodes have done what the lost coordinator had given them; none takes over before `adopt-after`, which is 5 s.
IDLE = 2.0


class Takeover:
    """Looks at the nodes that are left until one of them has taken the coordinator over, and one has done a task for it.

    What is measured is the time from the loss until a node is seen to have ended a task that the new coordinator gave it. That is
    later than the assignment by the task's duration and by the time between two looks. The results that nodes had kept from before
    the loss do not count: they are no new tries."""

    def __init__(self, hosts: Hosts, names: list[str], job: str) -> None:
        self.hosts, self.names, self.job = hosts, names, job
        self.began = 0.0
        self.before = self._sum(TAKEOVERS)
        self.attempts: int | None = None
        # The node that took over, and the seconds from the loss until that was seen, and until a task was done.
        self.adopter: str | None = None
        self.opened: float | None = None
        self.assigned: float | None = None
        self.looked = 0.0

    def _sum(self, metric: str) -> dict[str, int]:
        return {name: self.hosts.figure(name, metric) or 0 for name in self.names}

    def resumed(self, name: str) -> int | None:
        """How many results of the job a node began with, if it has taken it over."""
        lines = [line for line in self.hosts.log(name).splitlines() if "job resumed" in line and f"job={self.job}" in line]
        found = re.search(r"\bcompleted=(\d+)", lines[-1]) if lines else None
        return int(found[1]) if found else None

    def begin(self, moment: float) -> None:
        self.began = moment

    def look(self) -> None:
        if self.assigned is not None or time.monotonic() - self.began < IDLE:
            return
        attempts = sum(self._sum(ATTEMPTS).values())
        now = time.monotonic() - self.began
        if self.adopter is None:
            # In a split several coordinators are taken over. The log tells which node has the job.
            taken = [name for name, count in self._sum(TAKEOVERS).items() if count > self.before[name]]
            self.adopter = next((name for name in taken if self.resumed(name) is not None), None)
            self.opened = now if self.adopter else None
        if self.adopter is not None and self.attempts is not None and attempts > self.attempts:
            self.assigned = now
        self.attempts = attempts
