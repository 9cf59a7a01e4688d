"""How well IMAFLAGS_ISO tells hot pixels and cosmic rays from stars and galaxies, on synthetic skies of which everything is known.

    Benchmarks/sharpness.py [--seeds 1,2] [--fwhm 1.3,1.6,2.4,3.2,5] [--check]

Of each width of the stars there is a sky without blemishes, of which every source that is flagged is counted as wrong, blends,
saturated stars and galaxies too; and the same with tracks and hot pixels, of which it says by signal to noise how many are flagged.
Needs Python 3 alone.
"""

import argparse
import array
import csv
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("PROGRAM") or ROOT / ".build/release/skynode")
SIDE = 2048
RANGES = [(8, 12), (12, 20), (20, 30), (30, 50), (50, 100), (100, 100_000)]
SOURCES = [(0, 5), (5, 10), (10, 30), (30, 100), (100, 1e9)]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(*words: object) -> None:
    subprocess.run([str(PROGRAM), *map(str, words)], check=True, capture_output=True, text=True, timeout=600)


def add_hot_pixels(path: Path, seed: int) -> list[tuple[int, int, float]]:
    """Writes pixels of 8 to 800 times the sky's noise into an image of 32-bit floats; their places, from 0, and signal to noise."""
    content = bytearray(path.read_bytes())
    start = next(at for at in range(2880, len(content), 2880) if b"END" + b" " * 77 in content[at - 2880 : at])
    pixels = array.array("f", bytes(content[start : start + 4 * SIDE * SIDE]))
    pixels.byteswap()
    steps = sorted(abs(pixels[at + 1] - pixels[at]) for at in range(0, SIDE * SIDE - 1, 97))
    noise = steps[len(steps) // 2] / 0.954
    dice = random.Random(seed)
    places = []
    for _ in range(1200):
        x, y = dice.randrange(SIDE), dice.randrange(SIDE)
        signal = 8 * 100 ** dice.random()
        pixels[y * SIDE + x] += signal * noise
        places.append((x, y, signal))
    pixels.byteswap()
    content[start : start + 4 * SIDE * SIDE] = pixels.tobytes()
    path.write_bytes(content)
    return places


class Catalogue:
    """The sources of a scan, by place."""

    def __init__(self, image: Path, *options: object):
        table = image.with_suffix(".csv")
        run("scan", image, "-o", table, "--no-multicast", "--no-cache", *options)
        self.sources = [
            (float(row["X_IMAGE"]) - 1, float(row["Y_IMAGE"]) - 1, row["IMAFLAGS_ISO"] != "0") for row in rows(table)
        ]
        self.cells: dict[tuple[int, int], list[tuple[float, float, bool]]] = {}
        for source in self.sources:
            self.cells.setdefault((int(source[0] // 32), int(source[1] // 32)), []).append(source)

    def near(self, x: float, y: float, reach: float) -> list[bool]:
        """The flags of what is there."""
        found = []
        for column in range(int(x // 32) - 1, int(x // 32) + 2):
            for row in range(int(y // 32) - 1, int(y // 32) + 2):
                for source in self.cells.get((column, row), []):
                    if (source[0] - x) ** 2 + (source[1] - y) ** 2 <= reach**2:
                        found.append(source[2])
        return found


class Counts:
    """What was there, what of it is in the catalogue, and what of that is flagged."""

    def __init__(self):
        self.counts = {}

    def add(self, key, flags: list[bool]) -> None:
        there, found, flagged = self.counts.get(key, (0, 0, 0))
        self.counts[key] = (there + 1, found + bool(flags), flagged + any(flags))

    def text(self, key) -> str:
        there, found, flagged = self.counts.get(key, (0, 0, 0))
        return f"{there:5} {found:5} {flagged / max(1, found):6.1%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--fwhm", default="1.3,1.6,2.4,3.2,5")
    parser.add_argument("--check", action="store_true", help="fail where it is worse than the manual says")
    arguments = parser.parse_args()
    isWorse = False
    for fwhm in map(float, arguments.fwhm.split(",")):
        # The program calls so narrow a width doubtful, and then flags nothing, unless it is given.
        given = ["--seeing", fwhm] if fwhm < 1.5 else []
        wrong, sources, blemishes, kinds = 0, 0, Counts(), Counts()
        for seed in arguments.seeds.split(","):
            for profile in ("gaussian", "moffat"):
                with tempfile.TemporaryDirectory() as folder:
                    sky = Path(folder) / "sky.fits"
                    options = ["--seed", seed, "--fwhm", fwhm, "--profile", profile, "--galaxies", 1500]
                    options += ["--stars", 8000, "--width", SIDE, "--height", SIDE, "--bitpix", -32]
                    run("synthesize", sky, *options)
                    clean = Catalogue(sky, *given)
                    wrong += sum(source[2] for source in clean.sources)
                    sources += len(clean.sources)
                    for true in rows(Path(folder) / "sky_truth.csv"):
                        low = next(low for low, high in SOURCES if float(true["snr"]) < high)
                        kinds.add((true["kind"], low), clean.near(float(true["x"]) - 1, float(true["y"]) - 1, 2))
                    spoilt = Path(folder) / "spoilt.fits"
                    run("synthesize", spoilt, *options, "--cosmic-rays", 300)
                    places = add_hot_pixels(spoilt, int(seed))
                    dirty = Catalogue(spoilt, *given)
                    for x, y, signal in places:
                        # What a source was before does not count.
                        if not clean.near(x, y, 6):
                            low = max(low for low, high in RANGES if signal >= low)
                            blemishes.add(("hot", low), dirty.near(x, y, 2))
                    for true in rows(Path(folder) / "spoilt_truth.csv"):
                        x, y = float(true["x"]) - 1, float(true["y"]) - 1
                        if true["kind"] == "cosmic" and not clean.near(x, y, 6):
                            low = max((low for low, _ in RANGES if float(true["snr"]) >= low), default=0)
                            blemishes.add(("ray", low), dirty.near(x, y, float(true["length"]) / 2 + 1))
        print(f"stars of {fwhm} pixels{' (--seeing)' if given else ''}: {wrong} of {sources} sources flagged wrongly")
        for low, _ in SOURCES[1:]:
            print(f"  S/N from {low:5}: stars {kinds.text(('star', low))}, galaxies {kinds.text(('galaxy', low))}")
        for low, _ in RANGES:
            print(f"  S/N from {low:5}: hot pixels {blemishes.text(('hot', low))}, rays {blemishes.text(('ray', low))}")
        there, found, flagged = blemishes.counts.get(("hot", 100), (0, 0, 0))
        isWorse = isWorse or wrong > sources / 1000 or (fwhm > 2 and flagged < 0.9 * found)
    if arguments.check and isWorse:
        print("sharpness.py: worse than docs/USING.md says", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
