#!/usr/bin/env python3
"""Rounds in which the host of a coordinator is lost for ever, with its disk, while a job and scans run.

    sudo make losses [OPTIONS="--rounds 300 --hosts 5 --seed 1 --kinds kill,cut,second,split --stretch 1 --quick"]

Hosts are network namespaces of this machine with one key (Tests/Trials/lab), and nodes keep two copies of each other's jobs. Each
round a command gives a job of 5,000 tasks to one of the nodes and watches it, and another has four images scanned there. While
both go on, the coordinator's host is lost: kill (SIGKILL, and its disk is wiped), cut (off the network, and nobody sees it again),
second (killed, and 90 s later one of the hosts that keep copies of the adopted jobs, too), split (the network is cut 2 : 3 for
30 s, with the coordinator on either side). At the end of the round an empty node is put in the place of what was lost.

Both commands end with 0; every task was done and is stored once, none was told twice, and what had been told before the loss was
stored at the node that took over; the catalogues are to the byte those of an undisturbed node. At the end: how long it took until
work went on, of each kind. The seed is printed first; the same seed gives the same plan, not the same moments.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import checks
import namespaces
from hosts import PORT, Hosts, LabError
from loss import KINDS, Loss
from takeover import Takeover
from work import Piece, Scans, Simulation, scan_undisturbed, stop, synthesize

SLOTS = 2
TASKS = 5000
SIDE = 512
# So that the job lasts some 20 s, and where there is a second loss longer than until then.
MILLISECONDS = {"kill": 40, "cut": 40, "split": 80, "second": 220}
# Until a node has two copies; a node that was lost with copies is replaced after a minute.
COPIED = 180.0
# Of a round's work, after its last loss. Long: a busy machine must not look like a cluster that hangs.
LIMIT = 300.0


def main() -> None:
    parser = namespaces.parser(__doc__, 300, 5, "five", "one round of each kind, to try it")
    parser.add_argument("--stretch", type=float, default=1, help="tasks last so many times longer, for a program that is slower")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=KINDS, help="of losses, one after the other")
    arguments = namespaces.read(parser, 5, lambda said: len(said.kinds))
    if unknown := set(arguments.kinds) - set(KINDS):
        sys.exit(f"losses: --kinds takes {', '.join(KINDS)}, not {', '.join(sorted(unknown))}")
    if arguments.inside:
        sys.exit(Run(arguments).all())
    sys.exit(namespaces.enter(Path(__file__), arguments, ["--kinds", ",".join(arguments.kinds), "--stretch", arguments.stretch]))


class Run:
    """All rounds, in the namespaces."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder: Path = arguments.inside
        self.program: Path = arguments.program
        self.rounds: int = arguments.rounds
        self.first: int = arguments.first
        self.count: int = arguments.hosts
        self.seed: int = arguments.seed
        self.kinds: list[str] = arguments.kinds
        self.stretch: float = arguments.stretch
        self.seen: dict[str, int] = {}
        self.samples: dict = {}
        self.rows: list[dict] = []
        self.problems: list[str] = []

    def all(self) -> int:
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            self.hosts = Hosts(self.program, self.folder, self.count, SLOTS)
            self.images()
            _, problems = checks.whole(self.hosts)
            self.problems += problems
            for number in range(self.first, self.first + self.rounds):
                self.round(number)
            self.hosts.end()
        except KeyboardInterrupt:
            return 130
        except LabError as error:
            self.problems.append(str(error))
        return self.report()

    def images(self) -> None:
        """Frames, and what a node that nothing happens to finds in them."""
        self.frames = [self.folder / f"frame{seed}.fits" for seed in range(1, 5)]
        for seed, frame in enumerate(self.frames, 1):
            synthesize(self.program, frame, SIDE, seed)
        self.expected = self.folder / "expected"
        scan_undisturbed(self.program, self.frames, self.expected)

    def copied(self, chance: random.Random) -> str:
        """Waits until a node can be lost, and returns it: the round's coordinator."""
        names = chance.sample(self.hosts.names, len(self.hosts.names))
        deadline = time.monotonic() + COPIED
        while time.monotonic() < deadline:
            copies = {name: self.copies(name) for name in names}
            for name in names:
                if may_be_lost(name, copies):
                    return name
            time.sleep(0.2)
        raise LabError(f"after {COPIED:.0f} s no node has two copies of what it keeps")

    def copies(self, name: str) -> list[dict]:
        """The members that have a vote on what a host's node keeps, but for itself."""
        words = ["jobs", "storage", "--here", "--format", "json", "--node", f"{self.hosts.address(name)}:{PORT}", "--no-multicast"]
        words += ["--cluster-key", self.folder / "cluster.key"]
        shown = subprocess.run(self.hosts.on(name, self.program, *words), capture_output=True, text=True)
        copies = json.loads(shown.stdout).get("copies") or [] if shown.returncode == 0 else []
        return [copy for copy in copies if copy["hasVote"]]

    def keepers(self, job: str, lost: list[str]) -> list[str] | None:
        """Which nodes have a whole copy of a job, as the one says that works on it; nothing where none does."""
        for name in self.hosts.names:
            answer = None if name in lost else self.hosts.ask(name, "/v1/jobs")
            for listed in (answer or {"jobs": []})["jobs"]:
                if listed["job"] == job:
                    copies = (listed.get("copies") or {"nodes": []})["nodes"]
                    return [copy["node"] for copy in copies if copy["hasVote"] and copy.get("behind") is not None]
        return None

    def round(self, number: int) -> None:
        # Of its own numbers: what a round draws does not move those after it.
        chance = random.Random(f"{self.seed} {number}")
        kind = self.kinds[(number - self.first) % len(self.kinds)]
        folder = self.folder / f"round{number}"
        folder.mkdir()
        began = time.monotonic()
        coordinator = self.copied(chance)
        ready = time.monotonic() - began
        watcher = chance.choice([name for name in self.hosts.names if name != coordinator])
        milliseconds = round(MILLISECONDS[kind] * self.stretch)
        simulation = Simulation(self.hosts, folder, watcher, coordinator, TASKS, milliseconds)
        simulation.coordinator_dies = True
        scans = Scans(self.hosts, folder, watcher, coordinator, self.frames, self.expected)
        simulation.is_impatient = scans.is_impatient = True
        problems: list[str] = []

        # The scan begins some time after the job, and the loss comes while both go on.
        simulation.look()
        tasks = chance.randint(50, round(TASKS * 3 / 5 / self.stretch) if kind != "second" else 500)
        sectors = chance.randint(1, 60)
        self._until(simulation, tasks)
        # Asked before the scans, which on a busy machine could be done when the answer comes.
        job = self.job(coordinator)
        scans.look()
        self._until(scans, sectors)
        loss = Loss(self.hosts, kind, coordinator, watcher, chance, lambda lost: self.keepers(job, lost))
        takeover = Takeover(self.hosts, loss.far, job)
        told = {piece.name: set(piece.told()) for piece in (simulation, scans)}
        simulation.look()
        scans.look()
        if simulation.is_done or scans.is_done:
            problems.append("the work was done before the loss")
        loss.begin()
        takeover.begin(loss.began)
        silence, silent_since, size = 0.0, loss.began, -1
        last = loss.began
        while time.monotonic() < last + LIMIT and not (simulation.is_done and scans.is_done and loss.is_over):
            simulation.look()
            scans.look()
            loss.look()
            takeover.look()
            last = loss.second or loss.began
            now = time.monotonic()
            if (grown := simulation.output().stat().st_size) != size:
                silence, silent_since, size = max(silence, now - silent_since), now, grown
            time.sleep(0.02)
        worked = time.monotonic() - loss.began
        problems += stop([simulation, scans], f"has not ended {LIMIT:.0f} s after the last loss")
        # What had been told before the loss, the node that took over began with; what the new one tells is told once, see `work`.
        lost = max(0, len(told["simulate"]) - (takeover.resumed(takeover.adopter) or 0)) if takeover.adopter else 0
        if lost > 0:
            problems.append(f"{lost} results that had been told were lost with {coordinator}")
        loss.repair()
        settled, wrong = checks.whole(self.hosts)
        problems += wrong
        done, wrong = checks.jobs(self.hosts)
        problems += wrong + checks.orphans(self.hosts, SLOTS) + checks.crashes(self.hosts, self.seen)
        checks.sample(self.hosts, number, self.samples)
        for name in set(self.hosts.names) - set(self.hosts.daemons()):
            # A finding of this round, see `orphans`; the next round begins with all nodes.
            self.hosts.tell(f"start {name}")
        if kind != "split" and takeover.adopter is None:
            problems.append("no node has taken over")
        self.rows.append(
            {"kind": kind, "assigned": takeover.assigned, "opened": takeover.opened, "silence": silence, "tasks": done,
             "told": len(told["simulate"]) + len(told["scans"]), "lost": lost, "bad": bool(problems)}
        )  # fmt: skip
        self.problems += [f"round {number}: {problem}" for problem in problems]
        by = f"{takeover.adopter} took over, seen after {takeover.opened:.2f} s" if takeover.adopter else "nobody took over"
        next_task = f", next task done after {takeover.assigned:.2f} s" if takeover.assigned else ""
        print(
            f"round {number}: {'FAILED' if problems else 'ok'}, {loss}, coordinator {coordinator}, commands on {watcher}; "
            f"{len(told['simulate'])} tasks and {len(told['scans'])} of the scans' told before; {by}{next_task}, "
            f"nothing told for {silence:.1f} s; {ready:.1f} s until copied, {worked:.1f} s, {settled:.1f} s until whole",
            flush=True,
        )
        for problem in problems:
            print(f"    {problem}", flush=True)
        if not problems:
            shutil.rmtree(folder)

    def _until(self, piece: Piece, tasks: int) -> None:
        """Waits until so many tasks of a piece have been told to be done."""
        deadline = time.monotonic() + LIMIT
        while not piece.is_done and len(piece.told()) < tasks:
            if time.monotonic() > deadline:
                raise LabError(f"{piece.name} has not told {tasks} tasks after {LIMIT:.0f} s")
            time.sleep(0.02)
            piece.look()

    def job(self, coordinator: str) -> str:
        """The simulated job of the round: all others have images."""
        answer = self.hosts.ask(coordinator, "/v1/jobs")
        images = {str(frame) for frame in self.frames}
        found = [job["job"] for job in (answer or {"jobs": []})["jobs"] if job["what"] not in images]
        if len(found) != 1:
            raise LabError(f"{coordinator} lists {len(found)} simulated jobs")
        return found[0]

    def report(self) -> int:
        good = sum(not row["bad"] for row in self.rows)
        print(f"\nseed {self.seed}, {self.count} hosts, {self.program}")
        print("| | rounds | without a finding | next task, p50 | p99 | most | a command told nothing, p50 | p99 |")
        print("|---|---|---|---|---|---|---|---|")
        for kind in self.kinds:
            rows = [row for row in self.rows if row["kind"] == kind]
            assigned = [row["assigned"] for row in rows if row["assigned"] is not None]
            silences = [row["silence"] for row in rows]
            print(
                f"| {kind} | {len(rows)} | {sum(not row['bad'] for row in rows)} "
                f"| {quantile(assigned, 0.5)} | {quantile(assigned, 0.99)} | {quantile(assigned, 1)} "
                f"| {quantile(silences, 0.5)} | {quantile(silences, 0.99)} |"
            )
        # In a split no node is lost, so that daemons live through all rounds.
        most, wrong = checks.growth(self.samples)
        self.problems += wrong
        lived = max((len(rounds) for rounds in self.samples.values()), default=0)
        print(f"\nrounds that a daemon lived through, at most: {lived}; it grew by {most / (1 << 20):.1f} MiB at most (of {checks.GROWTH >> 20})")
        # Logs go on where a node was put in the place of another.
        logs = [path.read_text(errors="replace") for path in self.folder.glob("h*.log")]
        twice = sum(int(count) for log in logs for count in re.findall(r"(\d+) results came twice", log))
        print(f"\n{sum(row['tasks'] for row in self.rows)} tasks done, {sum(row['told'] for row in self.rows)} of them told before a loss")
        print(f"published results lost: {sum(row['lost'] for row in self.rows)}")
        print(f"tasks committed twice: {twice}")
        for problem in self.problems:
            print(f"losses: {problem}", file=sys.stderr)
        return 1 if self.problems or good != self.rounds else 0


def may_be_lost(host: str, copies: dict[str, list[dict]]) -> bool:
    """Whether two others have all that the host's node keeps, and every other node can go on without that host. A node that lost a
    member less than a minute ago waits where it loses another one, as docs/OPERATING.md says under "Copies"."""
    if sum(copy["isInReach"] and copy.get("behind") == 0 for copy in copies[host]) < 2:
        return False
    for other, members in copies.items():
        left = sum(copy["isInReach"] and copy["node"] != host for copy in members)
        if other != host and 2 * (1 + left) <= 1 + len(members):
            return False
    return True


def quantile(seconds: list[float], share: float) -> str:
    """The smallest of them that so many are no longer than."""
    if not seconds:
        return "-"
    return f"{sorted(seconds)[max(0, -int(-share * len(seconds) // 1) - 1)]:.2f} s"


if __name__ == "__main__":
    main()
