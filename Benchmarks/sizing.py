"""What a node needs of memory and disk: one node of two slots on this machine, and scans of synthetic frames.

    make sizing [OPTIONS="--sides 2048,4096 --tasks 100000"]

Told are, for each frame, the largest resident set and address space of a worker and of the daemon, and by how much the node's folder
grew for the job; then the same of a job of empty tasks. Each frame has a node of its own.
"""

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".build/release/skynode"
# Sources for a million pixels: a sparse field, and one where they touch.
STARS = {"sparse": 600, "dense": 12_000}
MIB = 1 << 20


class Node:
    """A daemon of this machine alone."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--no-multicast", "--slots", "2", "--data", self.data, "--http", "none"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            sys.exit("sizing: the node does not start")
        self.address = line.split()[-1]

    def run(self, *words: object) -> None:
        done = subprocess.run([PROGRAM, *map(str, words), "--node", self.address], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"sizing: {words[0]}: {done.stderr.strip()}")

    def workers(self) -> list[int]:
        """They live for a minute after their last task."""
        children: list[int] = []
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                children += map(int, path.read_text().split())
        return children

    def folder(self) -> int:
        return sum(path.stat().st_size for path in self.data.rglob("*") if path.is_file())

    def stop(self) -> int:
        """What the folder holds when all of the journal's parts are one."""
        self.process.terminate()
        self.process.wait()
        return self.folder()


def peak(process: int, name: str) -> float:
    """MiB: VmHWM, the largest resident set, or VmPeak, the largest address space (proc(5))."""
    match = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(), re.M)
    return int(match.group(1)) / 1024 if match else 0


@contextlib.contextmanager
def node(folder: Path) -> Iterator[Node]:
    folder.mkdir()
    one = Node(folder)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", default="2048,4096,8192", help="of the square frames, in pixels")
    parser.add_argument("--tasks", type=int, default=100_000, help="empty tasks of one job")
    options = parser.parse_args()
    print("| | pixels | sources | a worker: resident | its address space | the daemon: resident | its folder grew by |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for kind, density in STARS.items():
            for side in map(int, options.sides.split(",")):
                frame, stars = Path(scratch) / f"{kind}{side}.fits", density * side * side // 1_000_000
                subprocess.run(
                    [PROGRAM, "synthesize", frame, "--width", str(side), "--height", str(side), "--stars", str(stars), "--seed", "3",
                     "--bitpix", "16"], check=True, capture_output=True)
                with node(Path(scratch) / f"{kind}{side}") as one:
                    before = one.folder()
                    one.run("scan", frame, "-o", Path(scratch) / "out", "--no-picture")
                    workers = one.workers()
                    resident, space = (max(peak(worker, name) for worker in workers) for name in ("VmHWM", "VmPeak"))
                    daemon = peak(one.process.pid, "VmHWM")
                    grown = (one.stop() - before) / MIB
                print(
                    f"| {kind} | {side} x {side} | {stars:,} | {resident:.0f} MB | {space:.0f} MB | {daemon:.0f} MB | {grown:.1f} MB |",
                    flush=True)
                frame.unlink()
        with node(Path(scratch) / "tasks") as one:
            before = one.folder()
            one.run("simulate", "--tasks", options.tasks, "--duration", "0s")
            daemon = peak(one.process.pid, "VmHWM")
            grown = (one.stop() - before) / MIB
        print(f"| {options.tasks:,} empty tasks | | | | | {daemon:.0f} MB | {grown:.1f} MB |")


if __name__ == "__main__":
    main()
