#!/usr/bin/env python3
"""Rounds in which machines are switched off and on in order, as at an amateur's, while jobs come.

    sudo make evenings [OPTIONS="--rounds 100 --hosts 3 --seed 1 --quick"]

Hosts are network namespaces of this machine with one key (Tests/Trials/lab). In each round all hosts but one are switched off
(SIGTERM), in any order and at any distance, at the same moment too; then they are switched on again, or in some rounds the last one
is switched off, too, and another one is the first in the morning. Meanwhile jobs are submitted to hosts that are on.

No job is refused. Whenever one host is left, it finishes every job that was submitted: nothing waits for a machine that was switched
off in order. In the end all hosts are on, every job is done, all its tasks are, and each journal has its two copies. The seed is
printed first; the same seed gives the same plan, not the same moments.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import namespaces
from hosts import Hosts, LabError

SLOTS = 2
TASKS = 20
# Of a submission: a node that is about to find out that others are gone takes some seconds.
PATIENCE = 45.0
# Until one host has finished all jobs, and until all copies are there again. Long: a busy machine must not look like one that hangs.
LIMIT = 120.0


def main() -> None:
    parser = namespaces.parser(__doc__, 100, 3, "three", "three rounds, to try it")
    arguments = namespaces.read(parser, 3, lambda said: 3)
    if arguments.inside:
        sys.exit(Run(arguments).all())
    sys.exit(namespaces.enter(Path(__file__), arguments, []))


class Run:
    """All rounds, in the namespaces."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder: Path = arguments.inside
        self.arguments = arguments
        self.jobs: list[str] = []
        self.problems: list[str] = []
        self.on: set[str] = set()
        self.submitted = 0
        self.waits: list[float] = []

    def all(self) -> int:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.hosts = Hosts(self.arguments.program, self.folder, self.arguments.hosts, SLOTS)
        self.on = set(self.hosts.names)
        try:
            self.until("all nodes know each other", self.know_each_other)
            for number in range(self.arguments.first, self.arguments.first + self.arguments.rounds):
                found = len(self.problems)
                began = time.monotonic()
                plan = self.round(random.Random(f"{self.arguments.seed} {number}"))
                print(f"round {number}: {plan}, {time.monotonic() - began:.0f} s", flush=True)
                for problem in self.problems[found:]:
                    print(f"round {number}: PROBLEM: {problem}", flush=True)
                if len(self.problems) > found:
                    # The hosts' disks go with the namespaces.
                    for name in self.hosts.names:
                        shutil.copytree(self.folder / name, self.folder / f"{name}.disk", dirs_exist_ok=True)
                    break
        finally:
            self.hosts.end()
        longest = max(self.waits, default=0)
        print(f"{self.submitted} jobs, {len(self.problems)} problems; the last host had all jobs done after {longest:.1f} s at most")
        return 1 if self.problems else 0

    def round(self, chance: random.Random) -> str:
        order = chance.sample(self.hosts.names, len(self.hosts.names))
        gap = chance.choice([0.0, 0.3, 3.0, 15.0])
        last = order[-1]
        said = [f"gap {gap:.0f} s" if gap >= 1 else f"gap {gap} s"]
        for _ in range(chance.randrange(1, 4)):
            self.submit(chance.choice(order))
        for name in order[:-1]:
            self.switch_off(name)
            said.append(f"-{name}")
            time.sleep(gap * chance.random())
            if chance.random() < 0.7:
                self.submit(chance.choice(sorted(self.on)))
        self.submit(last)
        began = time.monotonic()
        self.until(f"{last} finishes all jobs", lambda: self.unfinished(last))
        self.waits.append(time.monotonic() - began)
        first = last
        if chance.random() < 0.3:
            self.settle()
            self.switch_off(last)
            said.append(f"-{last}")
            self.settle()
            first = chance.choice(order)
            self.switch_on(first)
            said.append(f"+{first}")
            # It is the only one. Whoever starts a service is told when it is ready.
            self.until(f"{first} answers", lambda: [] if self.hosts.ask(first, "/v1/jobs") else [first])
            self.submit(first)
        for name in chance.sample(order, len(order)):
            if name == first:
                continue
            time.sleep(gap * chance.random())
            self.settle(name)
            self.switch_on(name)
            said.append(f"+{name}")
            if chance.random() < 0.7:
                self.submit(chance.choice(sorted(self.on)))
        self.until("all nodes know each other", self.know_each_other)
        self.until("all jobs are done", lambda: self.unfinished(*order))
        self.until("all copies are there", self.lacking)
        # What a round leaves would make the next one slower.
        for job in self.jobs:
            self.command(chance.choice(order), "jobs", "delete", job)
        self.jobs = []
        return " ".join(said)

    # What happens to the hosts.

    def switch_off(self, name: str) -> None:
        self.hosts.tell(f"stop {name}")
        self.on.discard(name)

    def settle(self, *names: str) -> None:
        """Waits until those that were switched off have ended."""
        off = set(names) or set(self.hosts.names) - self.on
        self.until("nodes that were switched off end", lambda: sorted(off & set(self.hosts.daemons())))

    def switch_on(self, name: str) -> None:
        self.hosts.tell(f"start {name}")
        self.on.add(name)

    def submit(self, name: str) -> None:
        self.submitted += 1
        words = ["simulate", "--tasks", TASKS, "--duration", "50ms", "--detach", "--format", "json"]
        status, output, errors = self.command(name, *words)
        if status != 0:
            self.problems.append(f"{name} refuses a job, with {status}: {errors.strip()}")
            return
        self.jobs.append(json.loads(output.splitlines()[0])["job"])

    def command(self, name: str, *words: object) -> tuple[int, str, str]:
        command = self.hosts.on(name, self.hosts.program, *words, "--cluster-key", self.folder / "cluster.key")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            return done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            return -1, "", "it does not end"

    # What has to be so in the end. Each returns what is not so yet; nothing where all is well.

    def know_each_other(self) -> list[str]:
        missing = []
        for name in sorted(self.on):
            status, output, _ = self.command(name, "nodes", "--format", "json")
            if status != 0 or len(output.splitlines()) != len(self.on):
                missing.append(name)
        return missing

    def unfinished(self, *names: str) -> list[str]:
        states: dict[str, str] = {}
        for name in names:
            _, output, _ = self.command(name, "jobs", "--format", "json")
            for line in output.splitlines():
                listed = json.loads(line)
                if "job" in listed:
                    done = listed.get("completed") == TASKS and listed["state"] == "done"
                    states[listed["job"]] = "done" if done else f"{listed['state']}, {listed.get('reason')}"
        return [f"{job}: {states.get(job, 'not listed')}" for job in self.jobs if states.get(job) != "done"]

    def lacking(self) -> list[str]:
        lacking = []
        for name in sorted(self.on):
            status, output, errors = self.command(name, "jobs", "storage", "--format", "json")
            if status != 0:
                lacking.append(f"{name}: {errors.strip()}")
                continue
            copies = json.loads(output.splitlines()[0]).get("copies") or []
            if sum(1 for copy in copies if copy["hasVote"]) < 2:
                lacking.append(f"{name}: {len(copies)} copies")
        return lacking

    def until(self, what: str, is_missing) -> None:
        end = time.monotonic() + LIMIT
        while missing := is_missing():
            if time.monotonic() > end:
                self.problems.append(f"not within {LIMIT:.0f} s: {what}; {'; '.join(map(str, missing))}")
                return
            time.sleep(0.3)


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(f"evenings: {error}")
