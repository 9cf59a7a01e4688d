"""What a scan takes, beside SExtractor and Python's sep on the same frames in the same run.

    Benchmarks/scans.sh [--rounds 5] [--parts start,frames,night,large] [--check]      make scan-benchmark OPTIONS="..."

Whole processes, by the clock: start, reading, scanning, writing. SExtractor measures the columns that most people ask it for: positions,
AUTO, one aperture, radii, ellipse, FWHM, CLASS_STAR, flags; SkyNet its usual ones, which are more. SkyNet's ways:

- as typed: `skynode scan F -o out`, with the search for other nodes, pictures, report and three catalogues
- one catalogue: `skynode scan F -o x.fits`, also with the search
- alone: the same with --alone, without the search
- daemon: the same with a node that runs

A round takes each program once, one after the other, so that a slow minute of the machine is everybody's; the table has medians. What
takes more than half a minute runs once only. SExtractor has its own default limits of memory: larger ones make it slower. Frames are
synthetic, of 32-bit floats: 4096 x 4096 pixels; a night of 2048 x 2048 over four nodes; one of 20,000 x 20,000; for the start, which
has its own rounds, one of 256 x 256.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sextractor import command

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("PROGRAM") or str(ROOT / ".build/release/skynode")
SIDE = 4096
# Stars, galaxies, seeing in pixels; and what SkyNet may take of SExtractor's time, for each of its ways. --check holds to these.
FRAMES = {
    "sparse": ((20_700, 2_300, 3.2), {"as typed": 0.95, "alone": 0.70, "daemon": 0.60}),
    "medium": ((82_000, 8_000, 3.0), {"as typed": 0.80, "alone": 0.62, "daemon": 0.55}),
    "dense": ((1_250_000, 10_000, 2.0), {"alone": 0.45}),
}
# What `as typed` may take of `one catalogue`.
PICTURES = 1.25
# What is wished and not reached yet.
WISHES: dict[tuple[str, str], float] = {}
WISHED_PICTURES = 1.10
COLUMNS = (
    "NUMBER X_IMAGE Y_IMAGE ALPHA_J2000 DELTA_J2000 FLUX_AUTO FLUXERR_AUTO MAG_AUTO MAGERR_AUTO FLUX_APER(1) "
    "FLUXERR_APER(1) FLUX_RADIUS KRON_RADIUS A_IMAGE B_IMAGE THETA_IMAGE ELONGATION FWHM_IMAGE CLASS_STAR FLAGS"
)
NETWORK = Path("/usr/share/source-extractor/default.nnw")
LONG = 30
NIGHT_ROUNDS = 5
START_ROUNDS = 25
# The kernel counts the processor time of processes in ticks: so many are a second.
TICKS = os.sysconf("SC_CLK_TCK")
# Milliseconds that the program, its node and the first worker may take to start, and what is wished, which not every host meets.
START_LIMIT = 75
START_WISH = 60
WAYS = ("as typed", "one catalogue", "alone", "daemon")
# Nobody else is in this group.
GROUP = "239.255.71.9:47199"


def run(words: list[str], folder: Path) -> float:
    """How many seconds a command takes."""
    return heard(words, folder)[0]


def heard(words: list[str], folder: Path) -> tuple[float, str]:
    """How many seconds a command takes, and what it prints."""
    began = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    seconds = time.monotonic() - began
    if done.returncode:
        sys.exit(f"scans: {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return seconds, done.stdout


def sextractor(frame: Path, folder: Path) -> list[str]:
    # Neither looks at the header here.
    return command(frame, folder, COLUMNS, GAIN_KEY="NONE", SATUR_KEY="NONE", STARNNW_NAME=NETWORK)


def skynode(frames: list[Path], out: Path, *where: str) -> list[str]:
    return [PROGRAM, "scan", *map(str, frames), "--no-cache", "-o", str(out), *where]


class Nodes(NamedTuple):
    # Of the first.
    address: str
    processes: list[subprocess.Popen[str]]

    def processor_seconds(self) -> dict[str, float]:
        """What they have taken of the processors so far: the first, which coordinates, the others, and all workers."""
        seconds = dict.fromkeys(("coordinator", "other nodes", "workers"), 0.0)
        daemons = [node.pid for node in self.processes]
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            process, parent = int(path.parent.name), int(fields[1])
            own, ended = (int(fields[place]) + int(fields[place + 1]) for place in (11, 13))
            if process in daemons:
                seconds["coordinator" if process == daemons[0] else "other nodes"] += own / TICKS
                seconds["workers"] += ended / TICKS
            elif parent in daemons:
                seconds["workers"] += own / TICKS
        return seconds


@contextlib.contextmanager
def nodes(folder: Path, count: int, slots: int, *before: str, copies: int | None = None) -> Iterator[Nodes]:
    """So many nodes, started by the words before. They keep as many copies of jobs as they do by themselves, or as is said."""
    folder.mkdir(exist_ok=True)
    running: list[subprocess.Popen[str]] = []
    address = ""
    try:
        for number in range(count):
            words = [PROGRAM, "serve", "--name", f"n{number}", "--listen", "127.0.0.1:0", "--slots", str(slots)]
            words += ["--no-multicast", "--data", str(folder / f"data{number}")]
            words += ["--join", address] if address else []
            words += ["--copies", str(copies)] if copies is not None else []
            log = (folder / f"n{number}.log").open("w")
            node = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "--", *before, *words], stdout=subprocess.PIPE, stderr=log, text=True
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
        yield Nodes(address, running)
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


def synthetic(path: Path, side: int, *, stars: int, galaxies: int, fwhm: float, seed: int = 3) -> None:
    words = ("synthesize", path, "--width", side, "--height", side, "--stars", stars, "--galaxies", galaxies, "--seed", seed)
    run([PROGRAM, *map(str, words), "--fwhm", str(fwhm)], path.parent)


def one_frame(name: str, rounds: int, folder: Path, python: str) -> tuple[list[str], bool]:
    (stars, galaxies, fwhm), limits = FRAMES[name]
    frame = folder / f"{name}.fits"
    synthetic(frame, SIDE, stars=stars, galaxies=galaxies, fwhm=fwhm)
    with nodes(folder, 1, 2) as (address, _):
        commands = {
            "SExtractor": sextractor(frame, folder),
            "Python sep": [python, str(ROOT / "Benchmarks/sep_scan.py"), str(frame), str(folder / "sep.fits")],
            "as typed": skynode([frame], folder / "out", "--multicast", GROUP),
            "one catalogue": skynode([frame], folder / "x.fits", "--multicast", GROUP),
            "alone": skynode([frame], folder / "x.fits", "--alone"),
            "daemon": skynode([frame], folder / "x.fits", "--node", address),
        }
        times: dict[str, list[float]] = {system: [] for system in commands}
        for number in range(rounds + 1):
            for system, words in commands.items():
                if times[system] and times[system][0] > LONG:
                    continue
                shutil.rmtree(folder / "out", ignore_errors=True)
                seconds = run(words, folder)
                # The first round warms files and workers.
                if number or seconds > LONG:
                    times[system].append(seconds)
    ratios = {way: ratio(times[way], times["SExtractor"]) for way in WAYS}
    pictures = ratio(times["as typed"], times["one catalogue"])
    cells = [name, f"{sources(folder / 'sex.fits'):,} / {sources(folder / 'x.fits'):,}"]
    cells += [f"{statistics.median(times[system]):.2f} s" for system in ("SExtractor", "Python sep")]
    for way in WAYS:
        wish = f", wish {WISHES[name, way]:.2f}" if (name, way) in WISHES else ""
        limit = f" (≤ {limits[way]:.2f}{wish})" if way in limits else ""
        cells.append(f"{statistics.median(times[way]):.2f} s, {ratios[way]:.2f} x{limit}")
    cells.append(f"{pictures:.2f} x (≤ {PICTURES:.2f}, wish {WISHED_PICTURES:.2f})")
    return cells, all(ratios[way] <= limit for way, limit in limits.items()) and pictures <= PICTURES


def night(count: int, folder: Path, copies: int | None) -> tuple[list[str], bool]:
    """A night of small frames: four nodes of one slot, one node on one core, one SExtractor, and as many as there are cores, in turn."""
    cores = len(os.sched_getaffinity(0))
    kinds = [folder / f"kind{number}.fits" for number in range(min(8, count))]
    for number, path in enumerate(kinds):
        synthetic(path, 2048, stars=20_500, galaxies=2_000, fwhm=3.0, seed=number + 1)
    frames = []
    for number in range(count):
        frames.append(folder / f"night{number}.fits")
        os.link(kinds[number % len(kinds)], frames[-1])
    one_of_many = ("--no-merge", "--no-picture", "--format-catalogue", "fits")

    def theirs(frames: list[Path], cores: int) -> float:
        places = [folder / f"place{number}" for number in range(cores)]
        for place in places:
            place.mkdir(exist_ok=True)
        began = time.monotonic()
        loops = [threading.Thread(target=loop, args=(frames[number::cores], place, number)) for number, place in enumerate(places)]
        for thread in loops:
            thread.start()
        for thread in loops:
            thread.join()
        return time.monotonic() - began

    def loop(own: list[Path], place: Path, core: int) -> None:
        for frame in own:
            run(["taskset", "--cpu-list", str(core), *sextractor(frame, place)], place)

    def ours(cluster: Nodes, frames: list[Path], *before: str) -> float:
        began, commands = cluster.processor_seconds(), processor_seconds_of_commands()
        seconds = run([*before, *skynode(frames, folder / "out", "--node", cluster.address, *one_of_many)], folder)
        taken = {who: now - began[who] for who, now in cluster.processor_seconds().items()}
        taken["command"] = processor_seconds_of_commands() - commands
        spent[len(cluster.processes)].append({who: 1000 * by / len(frames) for who, by in taken.items()})
        return seconds

    # One core has half of the frames, so that it does not take longer than the others.
    few = frames[: max(1, count // 2)]
    on_one = ("taskset", "--cpu-list", "0")
    rates: dict[str, list[float]] = {"four": [], "one": [], "SExtractors": [], "SExtractor": []}
    # Milliseconds of processor time a frame, by the number of nodes, in each round.
    spent: dict[int, list[dict[str, float]]] = {1: [], 4: []}
    with nodes(folder / "four", 4, 1, copies=copies) as four, nodes(folder / "one", 1, 1, *on_one) as one:
        ours(four, frames[:4])
        ours(one, frames[:1], *on_one)
        for rounds in spent.values():
            rounds.clear()
        for _ in range(NIGHT_ROUNDS):
            rates["one"].append(len(few) / ours(one, few, *on_one))
            rates["four"].append(len(frames) / ours(four, frames))
            rates["SExtractors"].append(len(frames) / theirs(frames, cores))
            rates["SExtractor"].append(len(few) / theirs(few, 1))
    median = {kind: statistics.median(of) for kind, of in rates.items()}
    of_rounds = {
        (one, other): statistics.median(of / by for of, by in zip(rates[one], rates[other], strict=True))
        for one, other in (("four", "one"), ("SExtractors", "SExtractor"), ("four", "SExtractors"))
    }
    # Cores that share caches, memory and, in a virtual machine, perhaps a core of the host do less than twice what one does.
    share, attained = of_rounds["four", "one"] / cores, of_rounds["SExtractors", "SExtractor"] / cores
    times = of_rounds["four", "SExtractors"]
    lines = [
        f"{count} frames of 2048 x 2048, {NIGHT_ROUNDS} rounds, four nodes of one slot on {cores} cores: {median['four']:.2f} frames/s",
        f"- one node on one core: {median['one']:.2f} frames/s; four nodes have {share:.2f} of {cores} times that (≥ 0.85, wish 0.95)",
        f"- one SExtractor: {median['SExtractor']:.2f} frames/s; {cores}, one on each core, have {attained:.2f} of {cores} times that: "
        f"of what the cores do together, four nodes have {share / attained:.2f}",
        f"- {cores} SExtractors: {median['SExtractors']:.2f} frames/s; four nodes have {times:.2f} times that (≥ 1.30)",
        f"- processor time a frame, one node: {processor_time(spent[1])}; four: {processor_time(spent[4])}",
    ]
    return lines, share >= 0.85 and times >= 1.30


def processor_seconds_of_commands() -> float:
    """What all commands that have ended took of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor_time(rounds: list[dict[str, float]]) -> str:
    """The medians of some rounds."""
    medians = {who: statistics.median(taken[who] for taken in rounds) for who in rounds[0]}
    return ", ".join(f"{who} {taken:.0f} ms" for who, taken in medians.items() if taken >= 0.5)


def start(folder: Path) -> tuple[list[str], bool]:
    """What a command with a node of its own takes before it works: the program, its node, and the first worker, up to its answer."""
    frame = folder / "small.fits"
    synthetic(frame, 256, stars=40, galaxies=0, fwhm=3.2)
    words = [*skynode([frame], folder / "x.fits", "--alone"), "--timing", "--format", "json"]
    times: dict[str, list[float]] = {part: [] for part in ("program", "node", "worker", "whole")}
    for number in range(START_ROUNDS + 1):
        program = run([PROGRAM, "version"], folder)
        whole, printed = heard(words, folder)
        timing = next(event for line in printed.splitlines() if (event := json.loads(line))["event"] == "timing")
        steps = {step["step"]: step["seconds"] for step in timing["steps"]}
        # The first round warms files.
        if number:
            for part, seconds in zip(
                times, (program, steps["start"] + steps["submission"], steps["header"], whole), strict=True
            ):
                times[part].append(seconds * 1000)
    medians = {part: statistics.median(found) for part, found in times.items()}
    total = medians["program"] + medians["node"] + medians["worker"]
    lines = [
        f"a start: {total:.0f} ms (≤ {START_LIMIT}, wish {START_WISH}): the program {medians['program']:.0f} ms, its node "
        f"{medians['node']:.0f}, the first worker {medians['worker']:.0f}",
        f"- a whole scan of 256 x 256 pixels: {medians['whole']:.0f} ms; medians of {START_ROUNDS} rounds",
    ]
    return lines, total <= START_LIMIT


def large(folder: Path) -> tuple[list[str], bool]:
    """One frame of 20,000 x 20,000 pixels, and the memory that a worker takes for it."""
    frame = folder / "large.fits"
    synthetic(frame, 20_000, stars=493_000, galaxies=55_000, fwhm=3.2)
    theirs = run(sextractor(frame, folder), folder)
    began = time.monotonic()
    scan = subprocess.Popen(skynode([frame], folder / "x.fits", "--alone"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peaks: dict[int, int] = {}
    while scan.poll() is None:
        for process in children(scan.pid):
            with contextlib.suppress(OSError, StopIteration):
                status = Path(f"/proc/{process}/status").read_text().splitlines()
                peaks[process] = int(next(line for line in status if line.startswith("VmHWM")).split()[1])
        time.sleep(0.05)
    ours = time.monotonic() - began
    if scan.returncode:
        sys.exit(f"scans: the large frame: {scan.stderr.read().decode()[-400:] if scan.stderr else ''}")
    frame.unlink()
    peak = max(peaks.values()) / 1024
    lines = [
        f"20,000 x 20,000 pixels, {sources(folder / 'sex.fits'):,} / {sources(folder / 'x.fits'):,} sources: SExtractor "
        f"{theirs:.1f} s, SkyNet alone {ours:.1f} s, {ours / theirs:.2f} x (≤ 0.60)",
        f"- a worker took {peak:.0f} MiB at most",
    ]
    return lines, ours / theirs <= 0.60


def children(process: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="scans", allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5, help="times that each program runs")
    parser.add_argument("--frames", type=int, default=200, help="frames of the night, in each of five rounds")
    parser.add_argument("--copies", type=int, help="copies of each job that the four nodes of the night keep")
    parser.add_argument("--parts", default="start,frames,night,large", help="start, frames, night, large, with commas in between")
    parser.add_argument("--check", action="store_true", help="fail where a target is missed")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := set(parts) - {"start", "frames", "night", "large"}:
        sys.exit(f"scans: there is no part {sorted(unknown)[0]}")
    if not shutil.which("source-extractor"):
        sys.exit("scans: source-extractor is missing; Benchmarks/scans.sh installs it")
    is_met = True
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as path:
        folder = Path(path)
        if "start" in parts:
            lines, met = start(folder)
            is_met = is_met and met
            print("\n".join(lines) + "\n", flush=True)
        if "frames" in parts:
            head = ["frame", "sources, SExtractor / SkyNet", "SExtractor", "Python sep", *WAYS, "typed to one catalogue"]
            print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
            for name in FRAMES:
                cells, met = one_frame(name, options.rounds, folder, sys.executable)
                is_met = is_met and met
                print("| " + " | ".join(cells) + " |", flush=True)
        if "night" in parts:
            lines, met = night(options.frames, folder, options.copies)
            is_met = is_met and met
            print("\n" + "\n".join(lines), flush=True)
        if "large" in parts:
            lines, met = large(folder)
            is_met = is_met and met
            print("\n" + "\n".join(lines), flush=True)
    return 1 if options.check and not is_met else 0


if __name__ == "__main__":
    sys.exit(main())
