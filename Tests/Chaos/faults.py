"""What goes wrong in a round, and when: a plan drawn from the run's random numbers, and its execution."""

import itertools
import random
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from checks import last_words
from hosts import Hosts

# Faults of one group exclude each other on a host: a process that is gone cannot be stopped, and rules of one kind at a time
# say more. Faults of different groups may meet, as a kill and a full disk.
GROUPS = {
    "kill": "process", "power": "process", "freeze": "process", "cut": "network", "oneway": "network", "loss": "network",
    "disk": "disk", "clock": "clock",
}  # fmt: skip
# What is asked for by name only: off (ended in order, and started again), damage (killed, a copy that it keeps is damaged, and
# started again).
NAMED = {"off": "process", "damage": "process"}
# Of clocks that differ by more than an hour nodes refuse each other's certificates until that is mended.
JUMPS = [-400 * 86400, -86400, -3600, -60, 60, 3000, 7200, 86400, 40 * 86400]
LOSS = 30
# Why a node does not start: nothing at all can be written, or the clock is before the cluster key's time.
REFUSALS = ["no room on the disk", "set the clock"]


@dataclass(frozen=True)
class Fault:
    kind: str
    host: str
    # Seconds since the round's begin.
    start: float
    end: float
    # Of a one-way drop: which way is shut, and towards whom (None: everybody). Of a clock: seconds.
    detail: tuple = ()

    def __str__(self) -> str:
        words = " ".join(str(part) for part in self.detail if part is not None)
        return f"{self.kind} {self.host}{' ' + words if words else ''} {self.start:.1f}-{self.end:.1f}"


def plan(chance: random.Random, hosts: list[str], longest: float) -> list[Fault]:
    """Five to nine faults, of which at most half of the hosts are hit at a time: work must be able to go on in the end."""
    faults: list[Fault] = []
    wanted = chance.randint(5, 9)
    while len(faults) < wanted:
        kind, host = chance.choice(list(GROUPS)), chance.choice(hosts)
        start = chance.uniform(0.2, longest)
        end = start + chance.uniform(0.5, 5 if kind in ("kill", "power") else longest)
        others = [other for other in hosts if other != host]
        detail: tuple = ()
        if kind == "oneway":
            detail = (chance.choice(["deaf", "mute"]), chance.choice([None, *others]))
        elif kind == "clock":
            detail = (chance.choice(JUMPS),)
        meets = [fault for fault in faults if fault.start < end and start < fault.end]
        if any(fault.host == host and GROUPS[fault.kind] == GROUPS[kind] for fault in meets):
            continue
        # As if all of these were at the same moment, which is more than enough.
        if len({fault.host for fault in meets} | {host}) > len(hosts) // 2:
            continue
        faults.append(Fault(kind, host, start, end, detail))
    return sorted(faults, key=lambda fault: fault.start)


class Execution:
    """Brings a plan about, in a thread of its own, and ends every fault of it, come what may."""

    def __init__(self, hosts: Hosts, faults: list[Fault], power_cut: Callable[[str], None]) -> None:
        self.hosts = hosts
        self.power_cut = power_cut
        self.problems: list[str] = []
        # Hosts whose node was killed and is to be started again, and those where none can start now.
        self.dead: set[str] = set()
        self.barred: set[str] = set()
        begin = ((fault.start, 1, fault) for fault in faults)
        end = ((fault.end, 0, fault) for fault in faults)
        self.steps = sorted(itertools.chain(begin, end), key=lambda step: step[:2])
        self.hurry = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        began = time.monotonic()
        for moment, begins, fault in self.steps:
            self.hurry.wait(max(0, began + moment - time.monotonic()))
            try:
                (self._begin if begins else self._end)(fault)
            except Exception as error:  # The other faults still have to end.
                self.problems.append(f"{fault}: {error}")

    def _begin(self, fault: Fault) -> None:
        host = fault.host
        match fault.kind:
            case "kill":
                self._kill(host)
            case "off":
                if host in self.hosts.daemons():
                    self.hosts.tell(f"stop {host}")
                self.dead.add(host)
            case "damage":
                self._kill(host)
                for copy in self.hosts.copies(host)[:1]:
                    with copy.open("r+b") as file:
                        file.write(bytes(100))
            case "power":
                self.power_cut(host)
                self._kill(host)
            case "freeze":
                self.hosts.tell(f"freeze {host}")
            case "cut":
                self.hosts.tell(f"down {host}")
            case "oneway":
                way, other = fault.detail
                chain, side, device = ("in", "saddr", "iifname") if way == "deaf" else ("out", "daddr", "oifname")
                self._rule(host, chain, f"ip {side} {self.hosts.address(other)} drop" if other else f"{device} eth0 drop")
            case "loss":
                self._rule(host, "in", f"iifname eth0 numgen random mod 100 < {LOSS} drop")
            case "disk":
                self.barred.add(host)
                self.hosts.fill_disk(host)
            case "clock":
                self.barred.add(host)
                self.hosts.set_clock(host, fault.detail[0])

    def _kill(self, host: str) -> None:
        if host not in self.barred or host not in self._refused():
            self.hosts.tell(f"kill {host}")
        self.dead.add(host)

    def _refused(self) -> list[str]:
        """Hosts whose node has ended at its start, and said why."""
        ended = set(self.hosts.names) - set(self.hosts.daemons())
        return [host for host in ended if any(words in last_words(self.hosts, host) for words in REFUSALS)]

    def supervise(self) -> None:
        """Starts nodes again that could not start, as systemd would."""
        for host in self._refused():
            if host not in self.dead | self.barred:
                self.hosts.tell(f"start {host}")

    def _end(self, fault: Fault) -> None:
        host = fault.host
        match fault.kind:
            case "kill" | "power" | "off" | "damage":
                # One that is switched off in order may take its time.
                while host in self.hosts.daemons():
                    time.sleep(0.1)
                self.hosts.tell(f"start {host}")
                self.dead.discard(host)
            case "freeze":
                self.hosts.tell(f"thaw {host}")
            case "cut":
                self.hosts.tell(f"up {host}")
            case "oneway" | "loss":
                subprocess.run(self.hosts.on(host, "nft", "delete", "table", "inet", "chaos"), check=True)
            case "disk":
                self.hosts.free_disk(host)
                self.barred.discard(host)
            case "clock":
                self.hosts.set_clock(host, 0)
                self.barred.discard(host)

    def _rule(self, host: str, chain: str, rule: str) -> None:
        table = f"""
            table inet chaos {{
                chain in {{ type filter hook input priority 0; }}
                chain out {{ type filter hook output priority 0; }}
            }}
            add rule inet chaos {chain} {rule}
        """
        subprocess.run(self.hosts.on(host, "nft", "-f", "-"), input=table, text=True, check=True)

    def is_over(self) -> bool:
        return not self.thread.is_alive()

    def abandon(self) -> None:
        """Ends what is left of it at once."""
        self.hurry.set()
        self.thread.join()
