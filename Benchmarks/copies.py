"""What it costs that other nodes keep copies of a node's jobs: tasks a second, a task alone, scans.

    make copies-benchmark [OPTIONS="--tasks 200000 --rounds 5 --folder /dev/shm --check"]

Five nodes of two slots on this machine, with two copies of every job (each batch of results is forced to the disk, here and there)
and with none (the system writes when it likes to). Each round has one cluster of either kind. One after the other, a node of it gets
a job of empty tasks, whose results are all stored, then jobs of one empty task. Then four synthetic images are scanned in turn, twenty
times by each: so the two are compared within a second, and not minutes apart, in which a virtual machine is a tenth faster or slower.
Told are the medians, and the median of the ratios of rounds, or of neighbouring scans; and what processor time the daemons took for a
scan. How long the disk takes to force a page is told, too: with --folder in memory it takes no time, and what is left is what the
copies cost without it. --check: with copies there are at least 0.8 of the tasks a second without, and 20,000; scans take at most 1.03
of the time.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sizing  # noqa: E402
import takeover  # noqa: E402

NODES = 5
SINGLE_JOBS = 40
SIDE = 2048
FRAMES = 4
SCANS = 20
LEAST_RATIO, LEAST_RATE, MOST_SCAN = 0.8, 20_000, 1.03


def run(program: Path, *words: object) -> None:
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"copies: {words[0]}: {done.stderr.strip()}")


def timed(program: Path, *words: object) -> float:
    began = time.monotonic()
    run(program, *words)
    return time.monotonic() - began


def forced(folder: Path) -> float:
    """The median time, in ms, in which the disk takes a page for good."""
    times = []
    with (folder / "page").open("wb", buffering=0) as file:
        for _ in range(200):
            file.write(bytes(4096))
            began = time.monotonic()
            os.fsync(file.fileno())
            times.append(time.monotonic() - began)
    (folder / "page").unlink()
    return statistics.median(times) * 1000


def processor(node: takeover.Node) -> float:
    """The processor time of a daemon, in ms, without its workers. A thread that has ended does not count."""
    spent = 0
    for thread in Path(f"/proc/{node.process.pid}/task").iterdir():
        with contextlib.suppress(OSError):
            spent += int((thread / "schedstat").read_text().split()[0])
    return spent / 1e6


class Cluster:
    """Nodes of their own, for one round."""

    def __init__(self, program: Path, folder: Path, copies: int) -> None:
        self.program = program
        self.nodes: list[takeover.Node] = []
        self.copies = copies
        self.folder = folder

    def begin(self) -> None:
        for number in range(1, NODES + 1):
            self.nodes.append(
                takeover.Node(
                    self.program, self.folder, number, self.nodes[0].address if self.nodes else None, copies=self.copies))
        takeover.until("every node at every other", lambda: all(node.knows(NODES) for node in self.nodes))
        if self.copies:
            takeover.until("copies at two others", lambda: all(node.has_copies() for node in self.nodes))

    @property
    def options(self) -> list[str]:
        return ["--node", self.nodes[0].address]

    def warm(self, frames: list[Path], output: Path) -> None:
        """The first ones start what the nodes need, and are not measured."""
        run(self.program, "simulate", "--duration", "0ms", "--tasks", 1000, *self.options)
        self.scan(frames, output)

    def jobs(self, tasks: int) -> dict[str, float]:
        empty = ["simulate", "--duration", "0ms", *self.options, "--tasks"]
        seconds = timed(self.program, *empty, tasks)
        alone = [timed(self.program, *empty, 1) for _ in range(SINGLE_JOBS)]
        return {"rate": tasks / seconds, "alone": statistics.median(alone) * 1000}

    def scan(self, frames: list[Path], output: Path) -> dict[str, float]:
        """Seconds, and the processor time, in ms, of the daemon that was asked, of the two that had most to do beside it, and of all."""
        before = [processor(node) for node in self.nodes]
        seconds = timed(self.program, "scan", *frames, "--no-cache", *self.options, "-o", output)
        asked, *others = (max(0, processor(node) - spent) for node, spent in zip(self.nodes, before, strict=True))
        most, next_, *_ = sorted(others, reverse=True)
        return {"scan": seconds, "asked": asked, "most": most, "next": next_, "all": asked + sum(others)}

    def end(self) -> None:
        for node in self.nodes:
            with contextlib.suppress(OSError):
                node.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program", type=Path, default=sizing.PROGRAM)
    parser.add_argument("--folder", type=Path, help="where the journals are made, on the disk that is asked about")
    parser.add_argument("--check", action="store_true", help="fail where a limit is not kept")
    options = parser.parse_args()
    turns: dict[int, list[dict[str, float]]] = {0: [], 2: []}
    scans: dict[int, list[dict[str, float]]] = {0: [], 2: []}
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        print(f"a page is forced to the disk in {forced(folder):.2f} ms", flush=True)
        frames = [folder / f"frame{seed}.fits" for seed in range(1, FRAMES + 1)]
        for seed, frame in enumerate(frames, 1):
            run(options.program, "synthesize", frame, "--width", SIDE, "--height", SIDE, "--seed", seed)
        for number in range(options.rounds):
            with tempfile.TemporaryDirectory(dir=folder) as own:
                clusters: dict[int, Cluster] = {}
                try:
                    for copies in (0, 2):
                        (Path(own) / str(copies)).mkdir()
                        clusters[copies] = Cluster(options.program, Path(own) / str(copies), copies)
                        clusters[copies].begin()
                        clusters[copies].warm(frames, Path(own) / f"first{copies}")
                    for copies in (2, 0) if number % 2 else (0, 2):
                        turns[copies].append(clusters[copies].jobs(options.tasks))
                    for scan in range(SCANS):
                        for copies in (2, 0) if scan % 2 else (0, 2):
                            scans[copies].append(clusters[copies].scan(frames, Path(own) / f"scan{copies}-{scan}"))
                finally:
                    for cluster in clusters.values():
                        cluster.end()
    medians = {copies: {key: statistics.median(turn[key] for turn in of) for key in of[0]} for copies, of in turns.items()}
    ratios = {key: statistics.median(with_[key] / without[key] for with_, without in zip(turns[2], turns[0], strict=True))
              for key in medians[0]}
    for key in scans[0][0]:
        for copies, of in scans.items():
            medians[copies][key] = statistics.median(scan[key] for scan in of)
        ratios[key] = statistics.median(with_[key] / without[key] for with_, without in zip(scans[2], scans[0], strict=True))
    print("| | no copies | two copies | ratio |")
    print("|---|---|---|---|")
    for key, name, digits in (
        ("rate", "empty tasks a second", 0),
        ("alone", "a command with one empty task, ms", 1),
        ("scan", "scan of four images, s", 2),
        ("asked", "of that, processor time of the daemon that was asked, ms", 0),
        ("most", "of the other daemon that had most to do, ms", 0),
        ("next", "of the next one, ms", 0),
        ("all", "of all daemons, without their workers, ms", 0),
    ):
        print(f"| {name} | {medians[0][key]:.{digits}f} | {medians[2][key]:.{digits}f} | {ratios[key]:.3f} |")
    failed = []
    if ratios["rate"] < LEAST_RATIO or medians[2]["rate"] < LEAST_RATE:
        failed.append(f"{medians[2]['rate']:.0f} tasks a second, {ratios['rate']:.2f} of those without copies")
    if ratios["scan"] > MOST_SCAN:
        failed.append(f"scans take {ratios['scan']:.3f} of their time without copies")
    if options.check and failed:
        sys.exit("copies: " + "; ".join(failed))


if __name__ == "__main__":
    main()
