"""How well `skynode scan --reference` tells what is new: synthetic nights of three epochs, against their truth.

    Benchmarks/epochs.py [--seeds 201,202] [--size 4096] [--check]      make epochs OPTIONS="..."

Each night has dither, rotation, other seeing, sky and transparency in each epoch, transients (half of them on galaxies)
and movers. Lines of a table in Markdown go to standard output. A row counts as true with something of the truth that differs
between the epochs within 3 pixels, a source as found with a row within 2.5 pixels.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("PROGRAM") or str(ROOT / ".build/release/skynode")
MEGAPIXELS = 16.0 * 2**20
HEAD = ["seed", "epoch", "transients S/N > 10", "movers S/N > 10", "false per 16 Mpix", "true / false tracks", "scan"]


class Truth:
    """What is in one frame. A star or galaxy is nothing new; whatever else has a place is."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8") as lines:
            self.rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))

    def of(self, kind: str, snr: float = 0) -> list[dict[str, str]]:
        return [row for row in self.rows if row["kind"] == kind and float(row["snr"]) > snr]

    def changed(self) -> list[dict[str, str]]:
        return [
            row
            for row in self.rows
            if row["kind"] in ("transient", "mover") or abs(float(row.get("dmag") or 0)) > 0
        ]


def near(rows: list[dict[str, str]], x: float, y: float, radius: float, names: tuple[str, str]) -> bool:
    return any(abs(float(r[names[0]]) - x) < radius and abs(float(r[names[1]]) - y) < radius for r in rows)


def run(*words: object) -> None:
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"epochs: {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()}")


def night(seed: int, size: int, folder: Path) -> tuple[list[list[str]], list[tuple[int, int]], int, int]:
    scale = size / 4096
    transients, movers = (max(4, round(count * scale * scale)) for count in (60, 40))
    run(
        *("synthesize", folder / "n.fits", "--width", size, "--height", size, "--epochs", 3, "--interval", "1h"),
        *("--transients", transients, "--movers", movers, "--variables", movers, "--seed", seed),
    )
    began = time.monotonic()
    run(
        *("scan", folder / "n_e1.fits", folder / "n_e2.fits", "--reference", folder / "n_e0.fits", "-o", folder / "out"),
        *("--no-picture", "--slots", 2, "--no-multicast"),
    )
    seconds = time.monotonic() - began
    first = Truth(folder / "n_e0_truth.csv")
    result: list[list[str]] = []
    found: list[tuple[int, int]] = []
    tracks: dict[str, list[bool]] = {}
    false_sum = 0
    for epoch in (1, 2):
        truth = Truth(folder / f"n_e{epoch}_truth.csv")
        with (folder / f"out/n_e{epoch}.changes.csv").open(encoding="utf-8") as lines:
            changes = list(csv.DictReader(lines))
        cells = [str(seed), str(epoch)]
        for kind in ("transient", "mover"):
            wanted = truth.of(kind, 10)
            # One that is as bright as before is not new.
            same = {row["id"]: float(row["flux"]) for row in first.of(kind)} if kind == "transient" else {}
            wanted = [row for row in wanted if row["id"] not in same]
            hits = sum(near(changes, float(r["x"]), float(r["y"]), 2.5, ("X_IMAGE", "Y_IMAGE")) for r in wanted)
            cells.append(f"{hits} / {len(wanted)}")
            found.append((hits, len(wanted)))
        new, old = truth.changed(), first.changed()

        def is_true(row: dict[str, str], new: list[dict[str, str]] = new, old: list[dict[str, str]] = old) -> bool:
            return near(new, float(row["X_IMAGE"]), float(row["Y_IMAGE"]), 3, ("x", "y")) or near(
                old, float(row["X_OLD"]), float(row["Y_OLD"]), 3, ("x", "y")
            )

        false = sum(not is_true(row) for row in changes)
        false_sum += false
        cells.append(f"{false * MEGAPIXELS / (size * size):.1f}")
        for row in changes:
            if row["TRACK"]:
                hit = near(truth.of("mover"), float(row["X_IMAGE"]), float(row["Y_IMAGE"]), 3, ("x", "y"))
                hit = hit or near(first.of("mover"), float(row["X_OLD"]), float(row["Y_OLD"]), 3, ("x", "y"))
                tracks.setdefault(row["TRACK"], []).append(hit)
        result.append(cells)
    right = sum(all(hits) for hits in tracks.values())
    for cells in result:
        cells += [f"{right} / {len(tracks) - right} of {movers}", f"{seconds:.1f} s"]
    return result, found, false_sum, len(tracks) - right


def main() -> int:
    parser = argparse.ArgumentParser(prog="epochs", allow_abbrev=False)
    parser.add_argument("--seeds", default="201,202", help="numbers with commas in between")
    parser.add_argument("--size", type=int, default=4096, help="pixels of a side")
    parser.add_argument("--check", action="store_true", help="fail where this is worse than matching catalogues")
    options = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    missed = False
    for seed in map(int, options.seeds.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            rows, found, false, false_tracks = night(seed, options.size, Path(folder))
        for row in rows:
            print("| " + " | ".join(row) + " |", flush=True)
        # Catalogue matching found 42 of 48 transients and 37 of 38 movers, with 30 false rows in each 16 megapixels.
        transients = sum(hits for hits, _ in found[::2]) / max(1, sum(count for _, count in found[::2]))
        movers = sum(hits for hits, _ in found[1::2]) / max(1, sum(count for _, count in found[1::2]))
        per_frame = false / 2 * MEGAPIXELS / options.size**2
        missed = missed or transients <= 42 / 48 or movers < 0.95 or per_frame >= 30 or false_tracks > 0
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
