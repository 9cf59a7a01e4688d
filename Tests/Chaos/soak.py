#!/usr/bin/env python3
"""Hours in the life of a small cluster whose disks are too small: people submit, look, fetch and delete, and machines have faults.

    sudo make cluster-soak [OPTIONS="--rounds 6 --minutes 20 --hosts 5 --seed 1 --quick"]

Hosts are network namespaces of this machine with one key (Tests/Trials/lab); a node may keep 60 MB, which jobs and copies fill within
minutes. Three persons with credentials (one may have ten jobs at once, one may store 20 MB) and one with the key submit simulated
jobs and scans to any host, some for a node that is not there (a typo, cancelled a minute later) or for a certain one. A round has
seven faults: kill, freeze, cut, oneway, loss, disk (full), clock, off (ended in order, and started again), damage (of a copy).

A submission that is refused says why, that is so, and it ends: the same person submits again until it is taken. Looks at all jobs,
every few seconds from any host, have each job that goes on; or they say that they are not complete, and a moment after the last
fault they are. A job that has ended is there for a minute at least, then its node may delete it to make room. Results that are
fetched are to the byte those of an undisturbed node. At the end of a round all faults are over and people rest: every job ends, nodes
run nothing and have not grown, no node has kept more than it may. At the end of all rounds everything that is left was done
exactly once, and can be deleted. The seed is printed first; the same seed gives the same plan, not the same moments.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import checks
import namespaces
from faults import GROUPS, JUMPS, NAMED, Execution, Fault
from hosts import Hosts, LabError
from work import SECTOR, scan_undisturbed, synthesize

SLOTS = 2
LIMIT = 60_000_000
FAULTS = 7
# Nobody waits longer for one command; it stands for a hang.
PATIENCE = 150.0
# After its last fault a cluster has so long until all is as it was. Long: a busy machine must not look like one that hangs.
RECOVERY = 150.0
# For so long after its end a fault is a reason.
AFTERMATH = 60.0
# A job that has ended is kept at least so long.
KEPT = 60.0
# More than what is on its way when the bound is met may take beyond it. A copy that begins at a node that is full takes more, until
# the others have heard that their shares are smaller, and have deleted old jobs.
SLACK = 1.15
SHRINKS_WITHIN = 60.0
# A node that has had nothing to do for a minute gives back what it held for the next job; it looks four times a minute.
TRIMS_WITHIN = 120.0
CATALOGUE = "csv"
KINDS = GROUPS | NAMED
LENGTHS = {"kill": (1, 20), "freeze": (2, 40), "damage": (2, 10), "off": (5, 120)}


def main() -> None:
    parser = namespaces.parser(__doc__, 6, 5, "five", "one round of three minutes, to try it")
    parser.add_argument("--minutes", type=float, default=20, help="how long a round's people work")
    arguments = namespaces.read(parser, 5, lambda _: 1)
    if arguments.quick:
        arguments.minutes = min(arguments.minutes, 3)
    if arguments.inside:
        sys.exit(Run(arguments).all())
    sys.exit(namespaces.enter(Path(__file__), arguments, ["--minutes", arguments.minutes]))


@dataclass
class Known:
    """What people know of a job."""

    owner: str
    host: str
    submitted: float
    frame: Path | None = None
    # For a node that is not there.
    is_hopeless: bool = False
    ended: float | None = None
    # When it was last listed, and since when complete lists lack it although it goes on.
    seen: float | None = None
    lacking: float | None = None


@dataclass
class Person:
    name: str
    credential: Path
    jobs: list[str] = field(default_factory=list)


def anonymous(said: str) -> str:
    """A message without what is different in each: numbers, jobs, hosts."""
    return re.sub(r"[0-9a-f]{16}|\bh\d\b|\d+[.\d]*", "_", " | ".join(said.strip().splitlines()))[:300]


def plan(chance: random.Random, hosts: list[str], seconds: float) -> list[Fault]:
    """The faults of a round, at most two hosts at a time: two of three copies would be lost with more."""
    faults: list[Fault] = []
    # A short round, as for a trial of this script, has room for fewer.
    for _ in range(1000):
        if len(faults) == FAULTS:
            break
        kind, host = chance.choice(sorted(KINDS)), chance.choice(hosts)
        if kind == "power":
            continue
        start = chance.uniform(5, seconds * 0.9)
        end = start + min(chance.uniform(*LENGTHS.get(kind, (5, 90))), seconds / 4)
        detail: tuple = ()
        if kind == "oneway":
            detail = (chance.choice(["deaf", "mute"]), chance.choice([None, *(other for other in hosts if other != host)]))
        elif kind == "clock":
            detail = (chance.choice(JUMPS),)
        meets = [fault for fault in faults if fault.start < end + AFTERMATH / 2 and start < fault.end + AFTERMATH / 2]
        if any(fault.host == host for fault in meets) or len({fault.host for fault in meets} | {host}) > 2:
            continue
        faults.append(Fault(kind, host, start, end, detail))
    return sorted(faults, key=lambda fault: fault.start)


class Run:
    """All rounds, in the namespaces."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder: Path = arguments.inside
        self.arguments = arguments
        self.problems: list[str] = []
        self.lock = threading.Lock()
        self.jobs: dict[str, Known] = {}
        self.gone: set[str] = set()
        self.cancelled: set[str] = set()
        self.faults: list[tuple[float, float, Fault]] = []
        self.counts: Counter = Counter()
        self.refusals: Counter = Counter()
        self.incomplete: Counter = Counter()
        self.longest_refusal = 0.0
        self.incomplete_since: float | None = None
        self.longest_incomplete = 0.0
        self.fullest = 0.0
        # Since when nodes keep more than they may.
        self.overfull: dict[str, float] = {}
        self.longest_overfull = 0.0
        self.most_memory = 0
        self.number_of_faults = 0
        self.rest = threading.Event()
        self.samples: dict = {}
        self.seen_logs: dict[str, int] = {}

    def all(self) -> int:
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            self.hosts = Hosts(self.arguments.program, self.folder, self.arguments.hosts, SLOTS, ["--data-limit", LIMIT])
            self.prepare()
            _, wrong = checks.whole(self.hosts)
            self.problems += wrong
            first = self.arguments.first
            for number in range(first, first + self.arguments.rounds):
                found = len(self.problems)
                self.round(number)
                for problem in self.problems[found:]:
                    print(f"    {problem}", flush=True)
            self.end()
        except KeyboardInterrupt:
            return 130
        except LabError as error:
            self.problems.append(str(error))
        return self.report()

    def prepare(self) -> None:
        """Three persons' credentials, and images in a folder that all hosts have."""
        key = self.folder / "cluster.key"
        self.people = [Person("admin", key)]
        for name, limits in (("alice", ["--jobs", "10"]), ("bob", ["--bytes", "20M"]), ("carol", [])):
            path = self.folder / f"{name}.pem"
            subprocess.run([self.hosts.program, "key", "issue", name, *limits, "--cluster-key", key, "-o", path], check=True,
                           capture_output=True)  # fmt: skip
            self.people.append(Person(name, path))
        self.frames = []
        for number in range(4):
            frame = self.folder / f"frame{number}.fits"
            synthesize(self.hosts.program, frame, 1024, 100 + number, stars=6000)
            scan_undisturbed(self.hosts.program, [frame], self.folder / "expected")
            self.frames.append(frame)

    def problem(self, text: str) -> None:
        with self.lock:
            at = time.strftime("%H:%M:%S")
            self.problems.append(f"{at} {text}")

    # A round.

    def round(self, number: int) -> None:
        seconds = self.arguments.minutes * 60
        faults = plan(random.Random(f"{self.arguments.seed} {number}"), self.hosts.names, seconds)
        print(f"round {number}: {', '.join(map(str, faults))}", flush=True)
        began = time.monotonic()
        self.number_of_faults += len(faults)
        with self.lock:
            self.faults = [(began + fault.start, began + fault.end, fault) for fault in faults]
        self.rest.clear()
        before = self.counts.copy()
        execution = Execution(self.hosts, faults, lambda _: None)
        threads = [threading.Thread(target=self.live, args=(person, number)) for person in self.people]
        threads += [threading.Thread(target=self.look_about, args=(number,))]
        for thread in threads:
            thread.start()
        try:
            while time.monotonic() < began + seconds or not execution.is_over():
                execution.supervise()
                time.sleep(1)
        finally:
            self.rest.set()
            execution.abandon()
        for thread in threads:
            thread.join()
        execution.supervise()
        for problem in execution.problems:
            self.problem(problem)
        settled = self.settle(execution)
        for wrong in checks.orphans(self.hosts, SLOTS) + checks.crashes(self.hosts, self.seen_logs):
            self.problem(wrong)
        # What nodes hold now depends on the last jobs; what they hold at rest must not grow.
        busy = checks.memory(self.hosts)
        self.most_memory = max([self.most_memory, *busy.values()])
        time.sleep(TRIMS_WITHIN)
        checks.sample(self.hosts, number, self.samples)
        resting = checks.memory(self.hosts)
        print(f"round {number}: memory {', '.join(f'{name} {busy[name] >> 20} to {resting.get(name, 0) >> 20} MiB' for name in busy)}")
        did = ", ".join(f"{count - before[what]} {what}" for what, count in sorted(self.counts.items()))
        print(f"round {number}: {did}; all ended {settled:.0f} s after; fullest {self.fullest:.0%}", flush=True)

    def settle(self, execution: Execution) -> float:
        """Nobody submits; all jobs end, and every look is complete."""
        began = time.monotonic()
        hopeless = [job for job, known in self.jobs.items() if known.is_hopeless and known.ended is None]
        missing = ["not looked at"]
        while missing:
            if time.monotonic() - began > RECOVERY:
                self.problem(f"after {RECOVERY:.0f} s of rest: {'; '.join(missing)[:1000]}")
                break
            execution.supervise()
            for job in hopeless:
                if job not in self.cancelled:
                    self.cancel(self.people[0], job, random.choice(self.hosts.names))
            missing = []
            for host in self.hosts.names:
                listed = self.look(host)
                if listed is None:
                    missing.append(f"{host} has no complete list")
                    continue
                missing += [f"{host}: {job} is {listed[job]['state']}, {listed[job].get('reason')}" for job in sorted(listed)
                            if listed[job]["state"] not in ("done", "cancelled")]  # fmt: skip
            time.sleep(0.5)
        _, wrong = checks.whole(self.hosts)
        for text in wrong:
            self.problem(text)
        return time.monotonic() - began

    # What people do.

    def live(self, person: Person, number: int) -> None:
        chance = random.Random(f"{self.arguments.seed} {number} {person.name}")
        while not self.rest.is_set():
            host = chance.choice(self.hosts.names)
            draw = chance.random()
            if draw < 0.62:
                self.submit(person, host, chance)
            elif draw < 0.80:
                self.fetch(person, host, chance)
            elif draw < 0.92:
                self.delete(person, host, chance)
            else:
                self.ask_why(person, host, chance)
            self.cancel_old(person, host)
            self.rest.wait(chance.uniform(0.5, 4))

    def submit(self, person: Person, host: str, chance: random.Random) -> None:
        draw, frame, where = chance.random(), None, []
        is_hopeless = draw < 0.06
        if is_hopeless:
            where = ["--use-node", "nowhere"]
        elif draw < 0.2:
            where = ["--use-node", chance.choice(self.hosts.names)]
        if not is_hopeless and chance.random() < 0.55:
            frame = chance.choice(self.frames)
            words = ["scan", frame, "--sector", SECTOR, "--no-picture"] + (["--no-cache"] if chance.random() < 0.5 else [])
        else:
            tasks = chance.choice([1, 20, 300, 2000])
            words = ["simulate", "--tasks", tasks, "--duration", f"{chance.choice([1, 5, 20, 2000 // tasks])}ms"]
        words += [*where, f"--priority={chance.choice([0, 0, 0, 5, -5])}", "--detach"]
        began = time.monotonic()
        while True:
            status, output, errors = self.command(person, host, *words)
            if status == 0:
                break
            self.refused(person, host, status, errors)
            waited = time.monotonic() - began
            self.longest_refusal = max(self.longest_refusal, waited)
            # What a person may do about it. And others wait for the rest.
            if self.is_at_limit(errors):
                self.delete(person, host, chance, mercy=0)
            if waited > RECOVERY + AFTERMATH and not self.is_at_limit(errors):
                self.problem(f"{person.name} at {host} has been refused for {waited:.0f} s: {errors.strip()}")
                return
            if self.rest.wait(3):
                return
            host = chance.choice(self.hosts.names)
        job = output.split()[0] if output.split() else ""
        if not re.fullmatch("[0-9a-f]{16}", job):
            return self.problem(f"{host} names no job: {output!r} {errors!r}")
        self.counts["submitted"] += 1
        with self.lock:
            if job in self.jobs:
                self.problems.append(f"two jobs have the id {job}")
            self.jobs[job] = Known(person.name, host, time.monotonic(), frame, is_hopeless)
            person.jobs.append(job)

    @staticmethod
    def is_at_limit(errors: str) -> bool:
        """Whether it is a person's own limit that refuses."""
        return re.search(r"may have \d+ jobs? at once|may store", errors) is not None

    def refused(self, person: Person, host: str, status: int, errors: str) -> None:
        """Notes a refusal, and whether its reason is so."""
        said = errors.strip().splitlines()[-1] if errors.strip() else "without a word"
        self.counts["refused"] += 1
        with self.lock:
            self.refusals[anonymous(said)] += 1
            mine = [known for job, known in self.jobs.items() if known.owner == person.name and job not in self.gone]
        if status == -1:
            return self.problem(f"{person.name} at {host}: {said}")
        if self.is_at_limit(said):
            going = sum(1 for known in mine if known.ended is None)
            if person.name not in ("alice", "bob") or (person.name == "alice" and going < 10):
                self.problem(f"{person.name} at {host} has {going} jobs: {said}")
            return
        named = set(re.findall(r"\bh\d\b", said)) | {host}
        if not named & self.troubled():
            self.problem(f"{person.name} at {host}, exit code {status}, with faults of {sorted(self.troubled())}: {said}")

    def troubled(self) -> set[str]:
        """Hosts that have a fault, or had one a moment ago; and what its fault keeps one from."""
        now = time.monotonic()
        hit = {fault.host for start, end, fault in self.faults if start - 1 < now < end + AFTERMATH}
        return hit | {fault.detail[1] for start, end, fault in self.faults
                      if fault.kind == "oneway" and fault.detail[1] and start - 1 < now < end + AFTERMATH}  # fmt: skip

    def fetch(self, person: Person, host: str, chance: random.Random) -> None:
        with self.lock:
            ended = [job for job in person.jobs if self.jobs[job].frame and self.jobs[job].ended and job not in self.gone]
        if not ended:
            return
        job = chance.choice(ended[-5:])
        into = self.folder / "fetched" / job
        status, output, errors = self.command(person, host, "jobs", "results", job, "--format-catalogue", CATALOGUE, "-o", into)
        self.counts["fetched"] += 1
        if status == 0:
            frame = self.jobs[job].frame
            expected = self.folder / "expected" / f"{frame.stem}.{CATALOGUE}"
            made = sorted(into.glob(f"*.{CATALOGUE}"))
            if [path.read_bytes() for path in made] != [expected.read_bytes()]:
                self.problem(f"results of {job} at {host} are not those of {frame.name}: {made}")
        else:
            self.counts["not fetched"] += 1
            self.not_there(person, host, job, "results", status, errors)
        shutil.rmtree(into, ignore_errors=True)

    def not_there(self, person: Person, host: str, job: str, what: str, status: int, errors: str) -> None:
        """A job that a person knows cannot be worked with. It may have been deleted to make room; what goes on must be there."""
        said = errors.strip().splitlines()[-1] if errors.strip() else "without a word"
        known = self.jobs[job]
        if status == 2 and "no job" in said:
            age = time.monotonic() - known.ended if known.ended else 0
            if known.ended is None or age < KEPT:
                self.problem(f"{what} of {job} at {host}, ended {age:.0f} s ago: {said}")
            with self.lock:
                self.gone.add(job)
        elif status == -1 or not self.troubled():
            self.problem(f"{person.name}: {what} of {job} at {host}, exit code {status}: {said}")

    def delete(self, person: Person, host: str, chance: random.Random, mercy: float = 0.5) -> None:
        with self.lock:
            ended = [job for job in person.jobs if self.jobs[job].ended and job not in self.gone]
        for job in ended[: 1 if mercy else 5]:
            # A look that begins now may not have it any more.
            with self.lock:
                self.gone.add(job)
            status, _, errors = self.command(person, host, "jobs", "delete", job)
            if status == 0:
                self.counts["deleted"] += 1
            else:
                self.not_there(person, host, job, "delete", status, errors)

    def ask_why(self, person: Person, host: str, chance: random.Random) -> None:
        with self.lock:
            going = [job for job in person.jobs if self.jobs[job].ended is None and job not in self.gone]
        if going:
            job = chance.choice(going)
            status, _, errors = self.command(person, host, "jobs", "why", job)
            self.counts["asked why"] += 1
            if status != 0 and self.jobs[job].ended is None:
                self.not_there(person, host, job, "why", status, errors)

    def cancel_old(self, person: Person, host: str) -> None:
        """A typo is found after a minute."""
        with self.lock:
            old = [job for job in person.jobs if self.jobs[job].is_hopeless and job not in self.cancelled
                   and time.monotonic() - self.jobs[job].submitted > 60]  # fmt: skip
        for job in old[:1]:
            self.cancel(person, job, host)

    def cancel(self, person: Person, job: str, host: str) -> None:
        status, _, errors = self.command(person, host, "jobs", "cancel", job)
        if status == 0:
            self.counts["cancelled"] += 1
            with self.lock:
                self.cancelled.add(job)
                self.jobs[job].ended = self.jobs[job].ended or time.monotonic()
        else:
            self.not_there(person, host, job, "cancel", status, errors)

    # Looks at everything.

    def look_about(self, number: int) -> None:
        chance = random.Random(f"{self.arguments.seed} {number} look")
        while not self.rest.wait(chance.uniform(2, 6)):
            self.look(chance.choice(self.hosts.names))
            self.measure(chance.choice(self.hosts.names))

    def look(self, host: str) -> dict[str, dict] | None:
        """All jobs as a node lists them; nothing where it says that they are not all."""
        began = time.monotonic()
        with self.lock:
            known = {job: value for job, value in self.jobs.items() if job not in self.gone}
        status, output, errors = self.command(self.people[0], host, "jobs", "--all", "--format", "json")
        self.counts["looks"] += 1
        if status != 0:
            self.counts["incomplete looks"] += 1
            with self.lock:
                self.incomplete[anonymous(errors)] += 1
            now = time.monotonic()
            self.incomplete_since = self.incomplete_since or began
            self.longest_incomplete = max(self.longest_incomplete, now - self.incomplete_since)
            if status == -1 or not errors.strip():
                self.problem(f"jobs --all at {host}, exit code {status}: {errors.strip()}")
            elif not self.troubled() and not self.rest.is_set():
                self.problem(f"jobs --all at {host}, exit code {status}, without a fault: {errors.strip()[:300]}")
            return None
        self.incomplete_since = None
        listed = {line["job"]: line for line in map(json.loads, output.splitlines()) if "job" in line}
        with self.lock:
            for job, value in known.items():
                if line := listed.get(job):
                    if value.lacking:
                        self.problems.append(f"... {job} is there again after {time.monotonic() - value.lacking:.0f} s")
                    value.seen, value.lacking = time.monotonic(), None
                    if line["state"] in ("done", "cancelled", "failed"):
                        value.ended = value.ended or time.monotonic()
                    if line["state"] == "failed":
                        self.problems.append(f"job {job} has failed: {line}")
                elif job not in self.gone:
                    age = began - value.ended if value.ended else None
                    if age is not None and age >= KEPT:
                        self.gone.add(job)
                        self.counts["made room"] += 1
                    elif not value.lacking:
                        value.lacking = time.monotonic()
                        ended = "goes on" if age is None else f"has ended {age:.0f} s ago"
                        seen = f"seen {began - value.seen:.0f} s ago" if value.seen else "never seen"
                        self.problems.append(
                            f"{time.strftime('%H:%M:%S')} a complete list of {host} lacks {job} of {value.host}, which {ended}, was submitted "
                            f"{began - value.submitted:.1f} s before it and {seen}; faults: {sorted(self.troubled())}"
                        )
        return listed

    def measure(self, host: str) -> None:
        """A node keeps no more than it may."""
        status, output, _ = self.command(self.people[0], host, "jobs", "storage", "--format", "json")
        for line in output.splitlines() if status == 0 else []:
            node = json.loads(line)
            if "node" in node and node.get("limit"):
                share = (node["bytes"] + node.get("otherCopiesBytes", 0)) / LIMIT
                self.fullest = max(self.fullest, share)
                name, now = node["node"], time.monotonic()
                if share <= SLACK:
                    self.overfull.pop(name, None)
                    continue
                lasted = now - self.overfull.setdefault(name, now)
                if lasted > SHRINKS_WITHIN and self.longest_overfull <= SHRINKS_WITHIN:
                    self.problem(f"{name} has kept {share:.0%} of what it may for {lasted:.0f} s: {self.files(name)} {line}")
                self.longest_overfull = max(self.longest_overfull, lasted)

    def files(self, host: str) -> str:
        """The journal and the copies of a host: bytes of the file, of its free pages, of the log."""
        found = []
        for path in sorted((self.folder / host).glob("**/*.sqlite")):
            with open(path, "rb") as file:
                header = file.read(100)
            size, free = int.from_bytes(header[16:18]), int.from_bytes(header[36:40])
            log = path.with_name(path.name + "-wal")
            found.append(f"{path.parent.name}/{path.name} {path.stat().st_size} {size * free} {log.stat().st_size if log.exists() else 0}")
        return "; ".join(found)

    def command(self, person: Person, host: str, *words: object) -> tuple[int, str, str]:
        command = self.hosts.on(host, self.hosts.program, *words, "--cluster-key", person.credential)
        # Each host has its own home: a person's files are not the node's.
        environment = {**os.environ, "HOME": str(self.folder), "NO_COLOR": "1"}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)
            return done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            return -1, "", f"skynode {' '.join(map(str, words[:2]))} does not end within {PATIENCE:.0f} s"

    # The end.

    def end(self) -> None:
        tasks, wrong = checks.jobs(self.hosts, self.cancelled)
        self.problems += wrong
        self.counts["tasks left at the end, once each"] = tasks
        _, wrong = checks.growth(self.samples)
        self.problems += wrong
        self.problems += checks.stop(self.hosts, 60)

    def report(self) -> int:
        print(f"\nseed {self.arguments.seed}, {self.arguments.hosts} hosts, {self.arguments.rounds} rounds of {self.arguments.minutes} min")
        print("| | |\n|---|---|")
        for what, count in sorted(self.counts.items()):
            print(f"| {what} | {count} |")
        print(f"| faults | {self.number_of_faults} |")
        print(f"| fullest node | {self.fullest:.0%} of 60 MB |")
        print(f"| longest time above {SLACK:.0%} | {self.longest_overfull:.0f} s |")
        print(f"| most memory of a busy node | {self.most_memory >> 20} MiB |")
        print(f"| longest until a refused submission was taken | {self.longest_refusal:.0f} s |")
        print(f"| longest time without a complete list | {self.longest_incomplete:.0f} s |")
        for said, count in self.refusals.most_common():
            print(f"refused {count} times: {said}")
        for said, count in self.incomplete.most_common(20):
            print(f"not complete {count} times: {said}")
        for problem in self.problems:
            print(f"cluster-soak: {problem}", file=sys.stderr)
        return 1 if self.problems else 0


if __name__ == "__main__":
    main()
