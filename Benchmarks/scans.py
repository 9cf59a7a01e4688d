"""What a scan takes, beside SExtractor and Python's sep on the same frames in the same run.

    Benchmarks/scans.sh [--rounds 5] [--frames 40] [--check]      make scan-benchmark OPTIONS="..."

Whole processes, by the clock: start, reading, scanning, writing a FITS table with the same columns. A round takes each program
once, one after the other, so that a slow minute of the machine is everybody's; the table has medians. What takes more than half a
minute runs once only. SExtractor has its own default limits of memory: larger ones make it slower. Frames are synthetic, 4096 x 4096
pixels of 32-bit floats.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sextractor import command

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("PROGRAM") or str(ROOT / ".build/release/skynode")
SIDE = 4096
# Stars, galaxies, seeing in pixels; and what SkyNet may take of SExtractor's time, alone and with a daemon that runs.
FRAMES = {
    "sparse": ((20_700, 2_300, 3.2), 1.00, 0.85),
    "medium": ((82_000, 8_000, 3.0), 0.75, 0.68),
    "dense": ((1_250_000, 10_000, 2.0), 0.68, 0.62),
}
COLUMNS = (
    "NUMBER X_IMAGE Y_IMAGE XWIN_IMAGE YWIN_IMAGE ALPHA_J2000 DELTA_J2000 ALPHAWIN_J2000 DELTAWIN_J2000 FLUX_AUTO "
    "FLUXERR_AUTO MAG_AUTO MAGERR_AUTO FLUX_APER(1) FLUXERR_APER(1) MAG_APER(1) MAGERR_APER(1) FLUX_ISO FLUX_MAX "
    "FLUX_RADIUS KRON_RADIUS A_IMAGE B_IMAGE THETA_IMAGE ELONGATION FWHM_IMAGE BACKGROUND THRESHOLD ISOAREA_IMAGE FLAGS"
)
LONG = 30
SYSTEMS = ("SExtractor", "Python sep", "SkyNet alone", "SkyNet, daemon")


def run(words: list[str], folder: Path) -> float:
    began = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    seconds = time.monotonic() - began
    if done.returncode:
        sys.exit(f"scans: {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return seconds


def sextractor(frame: Path, folder: Path) -> list[str]:
    # Neither looks at the header here.
    return command(frame, folder, COLUMNS, GAIN_KEY="NONE", SATUR_KEY="NONE")


def skynode(frames: list[Path], folder: Path, *where: str) -> list[str]:
    return [
        *(PROGRAM, "scan", *map(str, frames), "--no-picture", "--no-cache", "--no-merge", "--format-catalogue", "fits"),
        *("-o", str(folder / "ours"), *where),
    ]


@contextlib.contextmanager
def nodes(folder: Path, count: int, slots: int) -> Iterator[str]:
    """So many nodes; the address of the first."""
    running: list[subprocess.Popen[str]] = []
    address = ""
    try:
        for number in range(count):
            words = [PROGRAM, "serve", "--name", f"n{number}", "--listen", "127.0.0.1:0", "--slots", str(slots)]
            words += ["--no-multicast", "--data", str(folder / f"data{number}")]
            words += ["--join", address] if address else []
            log = (folder / f"n{number}.log").open("w")
            node = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "--", *words], stdout=subprocess.PIPE, stderr=log, text=True
            )
            running.append(node)
            assert node.stdout
            # skynode NAME listening on HOST:PORT
            said = node.stdout.readline().split()
            if len(said) < 5:
                sys.exit(f"scans: a node does not start; see {log.name}")
            address = address or said[4]
        limit = time.monotonic() + 20
        while time.monotonic() < limit:
            done = subprocess.run([PROGRAM, "nodes", "--node", address, "--format", "json"], capture_output=True, check=False)
            if done.stdout.count(b"\n") == count:
                break
            time.sleep(0.1)
        yield address
    finally:
        for node in running:
            node.terminate()
        for node in running:
            node.wait(20)


def sources(path: Path) -> int:
    """Rows of a FITS table, from its header."""
    text = path.read_bytes()[:40_000].decode("latin-1")
    place = text.index("NAXIS2  =", text.index("XTENSION"))
    return int(text[place + 10 : place + 30])


def ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(ours) / statistics.median(theirs)


def one_frame(name: str, rounds: int, folder: Path, python: str) -> tuple[list[str], bool]:
    (stars, galaxies, fwhm), alone_limit, daemon_limit = FRAMES[name]
    frame = folder / f"{name}.fits"
    words = ("synthesize", frame, "--width", SIDE, "--height", SIDE, "--stars", stars, "--galaxies", galaxies)
    run([PROGRAM, *map(str, words), "--fwhm", str(fwhm), "--seed", "3"], folder)
    times: dict[str, list[float]] = {system: [] for system in SYSTEMS}
    with nodes(folder, 1, 2) as address:
        commands = {
            "SExtractor": sextractor(frame, folder),
            "Python sep": [python, str(ROOT / "Benchmarks/sep_scan.py"), str(frame), str(folder / "sep.fits")],
            "SkyNet alone": skynode([frame], folder, "--slots", "2", "--no-multicast"),
            "SkyNet, daemon": skynode([frame], folder, "--node", address),
        }
        for number in range(rounds + 1):
            for system, command in commands.items():
                if times[system] and times[system][0] > LONG:
                    continue
                seconds = run(command, folder)
                # The first round warms files and workers.
                if number or seconds > LONG:
                    times[system].append(seconds)
    alone, daemon = (ratio(times[system], times["SExtractor"]) for system in SYSTEMS[2:])
    count = f"{sources(folder / 'sex.fits'):,} / {sources(folder / f'ours/{name}.cat.fits'):,}"
    cells = [name, count, *(f"{statistics.median(times[system]):.2f} s" for system in SYSTEMS)]
    cells += [f"{alone:.2f} x (≤ {alone_limit})", f"{daemon:.2f} x (≤ {daemon_limit})"]
    return cells, alone <= alone_limit and daemon <= daemon_limit


def many_frames(count: int, folder: Path) -> tuple[str, bool]:
    frames = []
    for number in range(count):
        path = folder / f"m{number}.fits"
        os.link(folder / "medium.fits", path)
        frames.append(path)
    began = time.monotonic()
    for frame in frames:
        run(sextractor(frame, folder), folder)
    theirs = time.monotonic() - began
    with nodes(folder, 2, 1) as address:
        run(skynode(frames[:2], folder, "--node", address), folder)
        ours = run(skynode(frames, folder, "--node", address), folder)
    line = (
        f"{count} frames of the medium kind: a loop of SExtractor {count / theirs:.2f} frames/s, two nodes of one slot "
        f"{count / ours:.2f} frames/s, {theirs / ours:.2f} x (≥ 1.8)"
    )
    return line, theirs / ours >= 1.8


def main() -> int:
    parser = argparse.ArgumentParser(prog="scans", allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5, help="times that each program runs")
    parser.add_argument("--frames", type=int, default=40, help="of the comparison with two nodes; 0 for none")
    parser.add_argument("--check", action="store_true", help="fail where a target is missed")
    options = parser.parse_args()
    if not shutil.which("source-extractor"):
        sys.exit("scans: source-extractor is missing; Benchmarks/scans.sh installs it")
    head = ["frame", "sources, SExtractor / SkyNet", *SYSTEMS, "alone to SExtractor", "daemon to SExtractor"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    is_met = True
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as path:
        folder = Path(path)
        for name in FRAMES:
            cells, met = one_frame(name, options.rounds, folder, sys.executable)
            is_met = is_met and met
            print("| " + " | ".join(cells) + " |", flush=True)
        if options.frames:
            line, met = many_frames(options.frames, folder)
            is_met = is_met and met
            print("\n" + line)
    return 1 if options.check and not is_met else 0


if __name__ == "__main__":
    sys.exit(main())
