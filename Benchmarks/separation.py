"""How well SPREAD_MODEL tells galaxies from stars, on synthetic skies of which everything is known.

    Benchmarks/separation.py [--seeds 1,2,3] [--check]

Scans each sky with --columns and says, by signal to noise, how many stars and galaxies are taken for galaxies. A galaxy is what has

    SPREAD_MODEL > max(LIMIT, 3 SPREADERR_MODEL)

and for comparison what has FWHM_IMAGE above 1.15 times the stars' width. Needs Python 3 alone.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("PROGRAM") or ROOT / ".build/release/skynode")
LIMIT = 0.004
RANGES = [(5, 10), (10, 20), (20, 50), (50, 100), (100, 100_000)]
COLUMNS = "X_IMAGE,Y_IMAGE,FLUX_AUTO,FWHM_IMAGE,FLAGS,SPREAD_MODEL,SPREADERR_MODEL"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def matched(truth: list[dict[str, str]], found: list[dict[str, str]], radius: float):
    """Each source of the truth with the nearest of the catalogue, where it is the only one of the truth near that."""
    cells = defaultdict(list)
    for source in found:
        cells[int(float(source["X_IMAGE"]) // 8), int(float(source["Y_IMAGE"]) // 8)].append(source)
    claims = defaultdict(list)
    for true in truth:
        x, y = float(true["x"]), float(true["y"])
        best = None
        for column in range(int(x // 8) - 1, int(x // 8) + 2):
            for row in range(int(y // 8) - 1, int(y // 8) + 2):
                for source in cells[column, row]:
                    distance = (float(source["X_IMAGE"]) - x) ** 2 + (float(source["Y_IMAGE"]) - y) ** 2
                    if distance <= radius**2 and (best is None or distance < best[0]):
                        best = (distance, source)
        if best:
            claims[id(best[1])].append((true, best[1]))
    return [pairs[0] for pairs in claims.values() if len(pairs) == 1]


def measured(seed: int, folder: Path) -> list[tuple[dict[str, str], dict[str, str]]]:
    sky = folder / f"sky{seed}.fits"
    run = {"check": True, "capture_output": True, "text": True, "timeout": 600}
    subprocess.run([PROGRAM, "synthesize", sky, "--seed", str(seed), "--galaxies", "2500"], **run)
    catalogue = folder / f"sky{seed}.csv"
    subprocess.run([PROGRAM, "scan", sky, "-o", catalogue, "--columns", COLUMNS, "--no-multicast", "--no-cache"], **run)
    return matched(rows(folder / f"sky{seed}_truth.csv"), rows(catalogue), 2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--check", action="store_true", help="fail where it is worse than the manual says")
    arguments = parser.parse_args()
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in arguments.seeds.split(","):
            pairs += measured(int(seed), Path(folder))
    # What is alone: a blend is not a star's or a galaxy's light alone.
    pairs = [(true, source) for true, source in pairs if source["FLAGS"] == "0" and source["SPREAD_MODEL"]]
    widths = sorted(
        float(source["FWHM_IMAGE"]) for true, source in pairs if true["kind"] == "star" and float(true["snr"]) > 50
    )
    width = widths[len(widths) // 2]
    print("signal to noise |  stars taken for galaxies |  galaxies taken for galaxies | the same by FWHM_IMAGE")
    worst = {}
    for low, high in RANGES:
        shares = {}
        for kind in ("star", "galaxy"):
            own = [source for true, source in pairs if true["kind"] == kind and low <= float(true["snr"]) < high]
            spread = [
                float(source["SPREAD_MODEL"]) > max(LIMIT, 3 * float(source["SPREADERR_MODEL"])) for source in own
            ]
            wide = [float(source["FWHM_IMAGE"]) > 1.15 * width for source in own]
            count = max(1, len(own))
            shares[kind] = (sum(spread) / count, len(own), sum(wide) / count)
        worst[low] = shares
        (star, stars, wide_star), (galaxy, galaxies, wide_galaxy) = shares["star"], shares["galaxy"]
        print(
            f"{low:6} to {high:6} | {star:10.1%} of {stars:5}       | {galaxy:10.1%} of {galaxies:5}          "
            f"| {wide_star:6.1%} {wide_galaxy:6.1%}"
        )
    if arguments.check:
        bright = [worst[low] for low, _ in RANGES if low >= 20]
        if any(shares["star"][0] > 0.03 or shares["galaxy"][0] < 0.9 for shares in bright):
            print("separation.py: worse than docs/USING.md says", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
