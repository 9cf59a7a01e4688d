#!/usr/bin/env python3
"""Rounds of work on a cluster to which everything happens that machines and networks do, with an attacker in the network.

    sudo make chaos [OPTIONS="--rounds 50 --hosts 6 --seed 1 --quick"]

Hosts are network namespaces of this machine with one key (Tests/Trials/lab). Each round a simulated job and scans are given to any
of the nodes, and five to nine faults happen at any time to any host, the coordinators among them: kill (SIGKILL of the node, and
started again), power (of the commands on that host too), freeze (SIGSTOP and SIGCONT), cut (link down and up), oneway (packets
are dropped in one direction, of one other host or of all), loss (30 % of what comes in), disk (full), clock (jumps, and back).
Meanwhile somebody without the key floods, lies and stalls (attacker.py).

After each round every task was done exactly once, by what the command told and by the journal; catalogues are to the byte those
of an undisturbed node; all nodes list each other and run nothing; no process is left over. At the end memory, open files
and journals have not grown, and nodes that are stopped leave nothing behind. The seed is printed first; the same seed gives the
same plan, not the same moments.
"""

import argparse
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import checks
import namespaces
from faults import Execution, plan
from hosts import Hosts, LabError
from work import Piece, Scan, Simulation, scan_undisturbed, stop, synthesize

SLOTS = 2
# Rounds after which caches and journals are as large as they are to be.
WARM = 3
# Of a round's work, after its last fault. Long: a busy machine must not look like a cluster that hangs.
LIMIT = 300.0


def main() -> None:
    parser = namespaces.parser(__doc__, 50, 6, "four", "three rounds of less work, to try it")
    arguments = namespaces.read(parser, 4, lambda _: 3)
    sys.exit(Run(arguments).all() if arguments.inside else namespaces.enter(Path(__file__), arguments, []))


class Run:
    """All rounds, in the namespaces."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder: Path = arguments.inside
        self.program: Path = arguments.program
        self.rounds: int = arguments.rounds
        self.first: int = arguments.first
        self.count: int = arguments.hosts
        self.seed: int = arguments.seed
        self.is_quick: bool = arguments.quick
        self.samples: dict = {}
        self.seen: dict[str, int] = {}
        self.rows: list[dict] = []
        self.problems: list[str] = []
        self.journal_when_warm = 0

    def all(self) -> int:
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            self.hosts = Hosts(self.program, self.folder, self.count, SLOTS)
            self.images()
            attacker = self.attack()
            _, problems = checks.whole(self.hosts)
            self.problems += problems
            for number in range(self.first, self.first + self.rounds):
                self.round(number)
            if attacker.poll() is not None:
                self.problems.append("the attacker gave up")
            attacker.terminate()
            attacker.wait()
            self.end()
        except KeyboardInterrupt:
            return 130
        except LabError as error:
            self.problems.append(str(error))
        return self.report()

    def images(self) -> None:
        """Frames, the last of which only h1 has, and what a node that nothing happens to finds in them."""
        side = 512 if self.is_quick else 1024
        self.frames = [self.folder / f"frame{seed}.fits" for seed in range(1, 5)] + [self.hosts.private / "frame5.fits"]
        for seed, frame in enumerate(self.frames, 1):
            synthesize(self.program, frame, side, seed)
            scan_undisturbed(self.program, [frame], self.expected(frame))

    def expected(self, frame: Path) -> Path:
        return self.folder / "expected" / frame.stem

    def attack(self) -> subprocess.Popen:
        addresses = [self.hosts.address(name) for name in self.hosts.names]
        with (self.folder / "attacker.log").open("wb") as log:
            return subprocess.Popen(
                self.hosts.on("stranger", sys.executable, "-B", Path(__file__).with_name("attacker.py"), self.seed, *addresses),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def pieces(self, chance: random.Random, folder: Path) -> list[Piece]:
        """The work of a round: no image twice on the same coordinator, so that a job can be told by its image."""
        names = self.hosts.names
        tasks = chance.randint(400, 600) if self.is_quick else chance.randint(2000, 4000)
        work: list[Piece] = [
            Simulation(self.hosts, folder, chance.choice(names), chance.choice(names), tasks, chance.randint(15, 40))
        ]
        for index, frame in enumerate(chance.sample(self.frames, 3)):
            coordinator = "h1" if frame.parent == self.hosts.private else chance.choice(names)
            work.append(
                Scan(
                    self.hosts, folder, f"scan{index}", chance.choice(names), coordinator, frame, self.expected(frame),
                    is_detached=index == 2, uses_cache=chance.random() < 0.3,
                )  # fmt: skip
            )
        return work

    def round(self, number: int) -> None:
        # Of its own numbers: what a round draws does not move those after it.
        chance = random.Random(f"{self.seed} {number}")
        folder = self.folder / f"round{number}"
        folder.mkdir()
        work = self.pieces(chance, folder)
        faults = plan(chance, self.hosts.names, 6 if self.is_quick else 12)
        mortal = {fault.host for fault in faults if fault.kind in ("kill", "power")}
        for piece in work:
            piece.coordinator_dies = piece.coordinator in mortal
        began = time.monotonic()

        def power_cut(host: str) -> None:
            for piece in work:
                if piece.host == host:
                    piece.power_cut()

        execution = Execution(self.hosts, faults, power_cut)
        deadline = began + max(fault.end for fault in faults) + LIMIT
        supervised = began
        worked = None
        try:
            while (worked is None or not execution.is_over()) and time.monotonic() < deadline:
                for piece in work:
                    piece.look()
                if worked is None and all(piece.is_done for piece in work):
                    worked = time.monotonic() - began
                if time.monotonic() - supervised > 1:
                    execution.supervise()
                    supervised = time.monotonic()
                time.sleep(0.05)
        finally:
            execution.abandon()
        execution.supervise()
        worked = worked or time.monotonic() - began
        problems = list(execution.problems)
        problems += stop(work, f"has not ended {LIMIT:.0f} s after the last fault")
        settled, wrong = checks.whole(self.hosts)
        problems += wrong
        tasks, wrong = checks.jobs(self.hosts)
        problems += wrong + checks.orphans(self.hosts, SLOTS) + checks.crashes(self.hosts, self.seen)
        checks.sample(self.hosts, number, self.samples)
        if number < self.first + WARM:
            self.journal_when_warm = max(self.journal_when_warm, checks.journals(self.hosts))
        self.rows.append(
            {"faults": [fault.kind for fault in faults], "tasks": tasks, "worked": worked, "settled": settled, "bad": bool(problems)}
        )
        self.problems += [f"round {number}: {problem}" for problem in problems]
        coordinators = "".join(f" {piece.name}@{piece.coordinator}" for piece in work)
        print(
            f"round {number}: {'FAILED' if problems else 'ok'}, {worked:.1f} s and {settled:.1f} s until whole, {tasks} tasks once each, "
            f"{len(work) - 1} scans compared;{coordinators}; {', '.join(map(str, faults))}",
            flush=True,
        )
        for problem in problems:
            print(f"    {problem}", flush=True)
        if not problems:
            shutil.rmtree(folder)

    def end(self) -> None:
        """Nodes that are stopped go, with all that belongs to them."""
        largest = checks.journals(self.hosts)
        if largest > self.journal_when_warm + checks.JOURNAL:
            self.problems.append(f"a journal takes {largest >> 20} MiB, {self.journal_when_warm >> 20} after {WARM} rounds")
        self.largest_journal = largest
        self.growth, wrong = checks.growth(self.samples)
        self.problems += wrong
        self.problems += checks.stop(self.hosts, 30)

    def report(self) -> int:
        kinds = sorted({kind for row in self.rows for kind in row["faults"]})
        good = sum(not row["bad"] for row in self.rows)
        print(f"\nseed {self.seed}, {self.count} hosts, {self.program}")
        print("| | |\n|---|---|")
        print(f"| rounds without a finding | {good} of {self.rounds} |")
        for kind in kinds:
            print(f"| {kind} | {sum(row['faults'].count(kind) for row in self.rows)} |")
        print(f"| tasks, each once | {sum(row['tasks'] for row in self.rows)} |")
        print(f"| longest round, longest until whole | {max((row['worked'] for row in self.rows), default=0):.1f} s, "
              f"{max((row['settled'] for row in self.rows), default=0):.1f} s |")  # fmt: skip
        if hasattr(self, "growth"):
            print(f"| most that a daemon grew by | {self.growth / (1 << 20):.1f} MiB (of {checks.GROWTH >> 20}) |")
            print(f"| largest journal | {self.largest_journal / (1 << 20):.1f} MiB |")
        for problem in self.problems:
            print(f"chaos: {problem}", file=sys.stderr)
        return 1 if self.problems or good != self.rounds else 0


if __name__ == "__main__":
    main()
