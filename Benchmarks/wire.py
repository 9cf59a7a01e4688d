"""What it costs that only one machine has the images: scans in a lab of two hosts, over links of several speeds.

    sudo make wire-benchmark [OPTIONS="--rounds 3 --rates max,1gbit,100mbit --frames 6 --memory"]

Each host is a network namespace of this machine with one node of one slot; h1 alone sees the frames. Told are, for one frame and
for several: the time of h1 by itself; of both; of one node with two slots, which is what this machine's cores allow when no
pixel travels; and what crossed the wire. No frame is scanned twice, so that no pixel is there from before.

--memory scans 20,000 x 20,000 pixels with 50 nodes, of which 49 get their pixels from h1, and tells the largest resident set of
h1's daemon. It takes several minutes and 20 GB of memory.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".build/release/skynode"
SIDE = 4096
KINDS = {"16-bit": "16", "float": "-32"}


class Lab:
    """Hosts in network namespaces; `folder` is there on h1 only."""

    def __init__(self, hosts: int, slots: int, folder: Path) -> None:
        self.process = subprocess.Popen(
            [ROOT / "Tests/Trials/lab/lab.sh", "--hosts", str(hosts), "--slots", str(slots), "--program", PROGRAM, "--files", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if not self.process.stdout.readline().startswith("ready"):
            sys.exit("wire: no lab can be made here; it needs root (see Tests/Trials/lab/lab.sh)")
        # An error while it is not up yet.
        while len(self.command("nodes h1 --format json", tolerant=True)) < hosts:
            time.sleep(0.2)

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()

    def command(self, line: str, *, tolerant: bool = False) -> list[str]:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = []
        while (text := self.process.stdout.readline()) and not text.startswith("ok "):
            if text.startswith("error"):
                if tolerant:
                    return []
                sys.exit(f"wire: {line}: {text.strip()}")
            answer.append(text.rstrip())
        return answer

    def sent(self) -> int:
        return int(self.command("run h1 cat /sys/class/net/eth0/statistics/tx_bytes")[0])

    def scan(self, frames: list[Path], output: Path, *options: str) -> tuple[float, float, int]:
        """Seconds, megabytes from h1 to others, and sectors that h2 did."""
        before = self.sent()
        began = time.monotonic()
        lines = self.command(
            f"run h1 skynode scan {' '.join(map(str, frames))} --node 127.0.0.1:7420 --no-cache --no-picture --no-merge "
            f"-o {output} {' '.join(options)}"
        )
        seconds = time.monotonic() - began
        others = sum(int(count) for count in re.findall(r"^ +h2 +(\d+)$", "\n".join(lines), re.MULTILINE))
        return seconds, (self.sent() - before) / 1e6, others


def synthesize(path: Path, side: int, bitpix: str, seed: int) -> Path:
    size = ("--width", str(side), "--height", str(side))
    subprocess.run(
        [PROGRAM, "synthesize", path, *size, "--bitpix", bitpix, "--seed", str(seed)], check=True, capture_output=True
    )
    path.with_name(path.stem + "_truth.csv").unlink(missing_ok=True)
    return path


def measure(rate: str, kind: str, frames: list[list[Path]], warm: Path, folder: Path, output: Path) -> None:
    alone, both, cores, sent, others = [], [], [], [], []
    with Lab(2, 1, folder) as lab:
        if rate != "max":
            lab.command(f"rate {rate} h1 h2")
        # Workers are started, and readers.
        lab.scan([warm], output)
        for batch in frames:
            alone.append(lab.scan(batch, output, "--use-node", "h1")[0])
            seconds, megabytes, sectors = lab.scan(batch, output)
            both.append(seconds)
            sent.append(megabytes)
            others.append(sectors)
    with Lab(1, 2, folder) as lab:
        lab.scan([warm], output)
        cores = [lab.scan(batch, output)[0] for batch in frames]
    count = len(frames[0])
    print(
        f"| {rate} | {kind} | {count} | {statistics.median(alone):.2f} s | {statistics.median(both):.2f} s "
        f"| {statistics.median(cores):.2f} s | {statistics.median(others):.0f} of {16 * count} "
        f"| {statistics.median(sent):.0f} MB, {statistics.median(s * 8 / t for s, t in zip(sent, both)):.0f} Mb/s |",
        flush=True,
    )


def memory(folder: Path, output: Path, side: int = 20_000, nodes: int = 50) -> None:
    frame = synthesize(folder / "large.fits", side, "16", 1)
    with Lab(nodes, 1, folder) as lab:
        seconds, megabytes, _ = lab.scan([frame], output)
        pid = next(line.split()[2] for line in lab.command("hosts") if line.startswith("h1 "))
        peak = next(
            int(line.split()[1]) for line in lab.command(f"run h1 cat /proc/{pid}/status") if line.startswith("VmHWM")
        )
    print(f"\n20,000 x 20,000 pixels of 16 bits, 50 nodes: {seconds:.0f} s, {megabytes:.0f} MB sent; h1's daemon, which "
          f"coordinates and has the file, at most {peak / 1000:.0f} MB (wish: below 300 MB)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=6)
    parser.add_argument("--rates", default="max,1gbit,100mbit")
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skynet-wire-") as name:
        folder, output = Path(name) / "frames", Path(name) / "out"
        folder.mkdir()
        if arguments.memory:
            memory(folder, output)
            return
        print("| link | pixels | frames | h1 alone | h1 and h2 | two slots, no wire | sectors by h2 | sent |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for kind, bitpix in KINDS.items():
            count = max(arguments.frames, arguments.rounds) + 1
            made = [synthesize(folder / f"{bitpix}_{seed}.fits", SIDE, bitpix, seed) for seed in range(count)]
            for rate in arguments.rates.split(","):
                measure(rate, kind, [[frame] for frame in made[1 : 1 + arguments.rounds]], made[0], folder, output)
                measure(rate, kind, [made[1 : 1 + arguments.frames]], made[0], folder, output)


if __name__ == "__main__":
    main()
