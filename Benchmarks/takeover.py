"""What it takes to keep copies of a large job, and how soon another node has it when its machine is lost.

    make takeover-benchmark [OPTIONS="--tasks 100000 --rounds 3 --check"]

Three nodes of two slots on this machine keep two copies of each other's jobs. One gets a job of empty tasks, whose results are
stored at all three. Told are the resident sets of the two others while the job goes on; when nine tenths are done, the first node is
killed, and told is how long it takes until another one lists the job, and until it has stored one more result. The job is then done
to its end. --check: a standby does not grow between four and nine tenths of the job by more than a tenth, and the next result comes
within 8 s.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sizing  # noqa: E402

LIMIT = 8.0
PATIENCE = 120.0


class Node:
    """One of the three."""

    def __init__(self, program: Path, folder: Path, number: int, join: str | None, copies: int = 2) -> None:
        self.program = program
        words = ["serve", "--name", f"node{number}", "--listen", "127.0.0.1:0", "--no-multicast", "--slots", "2", "--http", "none",
                 "--copies", str(copies), "--data", str(folder / f"node{number}")] + (["--join", join] if join else [])
        self.process = subprocess.Popen([program, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            sys.exit("takeover: a node does not start")
        self.address = line.split()[-1]

    def asked(self, *words: str) -> dict | None:
        """The answer's first line; nothing where there is none."""
        done = subprocess.run(
            [self.program, *words, "--node", self.address, "--format", "json"], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        return json.loads(lines[0]) if done.returncode == 0 and lines else None

    def completed(self, job: str) -> int | None:
        listed = self.asked("jobs", job)
        return None if listed is None else int(listed["completed"])

    def has_copies(self) -> bool:
        storage = self.asked("jobs", "storage") or {}
        return sum(copy["hasVote"] and copy.get("behind") == 0 for copy in storage.get("copies") or []) == 2

    def knows(self, count: int) -> bool:
        shown = subprocess.run([self.program, "nodes", "--node", self.address, "--format", "json"], capture_output=True, text=True)
        return len(shown.stdout.splitlines()) == count

    def memory(self) -> float:
        return sizing.peak(self.process.pid, "VmRSS")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def until(what: str, condition) -> None:  # noqa: ANN001
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"takeover: {what} has not come within {PATIENCE:.0f} s")
        time.sleep(0.05)


class Round:
    """One job, and the loss of its node."""

    def __init__(self, program: Path, tasks: int, folder: Path) -> None:
        self.tasks = tasks
        self.nodes: list[Node] = []
        # The memory of each standby, by how much of the job was done, in tenths.
        self.memory: dict[int, list[float]] = {}
        try:
            for number in range(1, 4):
                self.nodes.append(Node(program, folder, number, self.nodes[0].address if self.nodes else None))
            self.run()
        finally:
            for node in self.nodes:
                with contextlib.suppress(OSError):
                    node.kill()

    def run(self) -> None:
        first, *others = self.nodes
        until("a copy at both others", first.has_copies)
        began = first.asked("simulate", "--tasks", str(self.tasks), "--duration", "0ms", "--detach")
        if began is None:
            sys.exit("takeover: the job was not taken")
        job = began["job"]
        done = 0
        while done < self.tasks * 9 // 10:
            done = first.completed(job) or done
            self.memory.setdefault(done * 10 // self.tasks, [node.memory() for node in others])
            time.sleep(0.2)
        lost = time.monotonic()
        first.kill()
        found: list[tuple[Node, int]] = []

        def is_listed() -> bool:
            # Any node passes the question on to the one that has the job.
            number = others[0].completed(job)
            if number is not None:
                found.append((others[0], number))
            return bool(found)

        until("the job at another node", is_listed)
        self.listed = time.monotonic() - lost
        node, at_first = found[0]
        if at_first < done:
            sys.exit(f"takeover: {done} results had been told, and {at_first} are there")
        until("one more result", lambda: (node.completed(job) or 0) > at_first or at_first == self.tasks)
        self.next = time.monotonic() - lost
        until("the end of the job", lambda: node.completed(job) == self.tasks)
        self.told = done

    def growth(self) -> float:
        """Of the standby that grew more, from four tenths of the job to the end of what was seen."""
        early = self.memory.get(4) or self.memory[min(self.memory)]
        late = self.memory[max(self.memory)]
        return max(after / before for before, after in zip(early, late, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--program", type=Path, default=sizing.PROGRAM)
    parser.add_argument("--folder", type=Path, help="where the journals are made, on the disk that is asked about")
    parser.add_argument("--check", action="store_true", help="fail where a standby grows, or the next result takes over 8 s")
    options = parser.parse_args()
    print("| tasks | results when lost | a standby at 0, 4 and 9 tenths | listed after | next result after |")
    print("|---|---|---|---|---|")
    failed = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            done = Round(options.program, options.tasks, Path(folder))
        shown = ", ".join(f"{max(done.memory[tenth]):.0f}" for tenth in sorted({min(done.memory), 4, max(done.memory)} & set(done.memory)))
        print(f"| {options.tasks} | {done.told} | {shown} MB | {done.listed:.1f} s | {done.next:.1f} s |", flush=True)
        if done.growth() > 1.1:
            failed.append(f"a standby has grown to {done.growth():.2f} of what it was")
        if done.next > LIMIT:
            failed.append(f"the next result came after {done.next:.1f} s")
    if options.check and failed:
        sys.exit("takeover: " + "; ".join(failed))


if __name__ == "__main__":
    main()
