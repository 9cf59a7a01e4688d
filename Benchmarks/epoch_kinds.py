"""What skynode scan --reference makes of nights that are no plain ones: fields, detectors and weather of other kinds.

    Benchmarks/epoch_kinds.py [--kinds galaxies,crowded] [--seeds 301,302] [--size 2048] [--check]

Run by `make epoch-kinds`. Two epochs of a synthetic sky each, changed by this program where a kind needs what `skynode
synthesize` does not make. Lines of a table in Markdown go to standard output: what was found of the transients and movers with a
signal to noise above 10, how many rows have no reason, the share of injected bright stars that the comparison says it finds, and
whether it says that it is blind. A row counts as true with something of the truth that differs within 3 pixels.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from astropy.io import fits
from scipy import ndimage

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("PROGRAM") or str(ROOT / ".build/release/skynode")
HEAD = ["kind", "seed", "transients S/N > 10", "movers S/N > 10", "false rows", "says it finds", "half of", "blind"]
Row = dict[str, str]


@dataclass
class Frame:
    """One epoch, and what is in it."""

    pixels: np.ndarray
    header: fits.Header
    truth: list[Row]
    epoch: int
    random: np.random.Generator

    def sky(self) -> tuple[float, float]:
        """Level and noise of its background."""
        values = self.pixels[::7, ::7].ravel()
        for _ in range(8):
            middle, sigma = np.median(values), values.std()
            values = values[abs(values - middle) < 3 * sigma]
        return float(np.median(values)), float(values.std())

    def dim(self, factor: float) -> None:
        for row in self.truth:
            row["snr"] = str(float(row["snr"]) * factor)


def hot_pixels(frame: Frame) -> None:
    """3000 for each megapixel that has them on a bad amateur's camera: at the same pixel in each frame."""
    fixed = np.random.default_rng(99)
    count = frame.pixels.size * 3000 // (1024 * 800)
    x, y = (fixed.integers(0, side, count) for side in frame.pixels.shape[::-1])
    frame.pixels[y, x] += np.exp(fixed.uniform(np.log(300), np.log(30_000), count)) * frame.random.normal(1, 0.03, count)


def resampled(frame: Frame) -> None:
    """Moved by part of a pixel with a cubic spline, as pipelines do it before they combine frames: what was sharp is not now."""
    dx, dy = (0.37, 0.41) if frame.epoch else (-0.24, 0.33)
    frame.pixels = ndimage.shift(frame.pixels, (dy, dx), order=3, mode="nearest")
    frame.header["CRPIX1"] += dx
    frame.header["CRPIX2"] += dy
    for row in frame.truth:
        row["x"], row["y"] = str(float(row["x"]) + dx), str(float(row["y"]) + dy)


def trailed(frame: Frame) -> None:
    """Drawn out by six pixels, in another direction in each frame; with the noise that an image as it was read has."""
    level, sigma = frame.sky()
    angle = np.radians(25 + 60 * frame.epoch)
    kernel = np.zeros((9, 9))
    for step in np.linspace(-3, 3, 61):
        kernel[round(4 + step * np.sin(angle)), round(4 + step * np.cos(angle))] += 1
    smooth = ndimage.convolve(frame.pixels - level, kernel / kernel.sum(), mode="nearest")
    left = sigma * np.sqrt(((kernel / kernel.sum()) ** 2).sum())
    frame.pixels = level + smooth + frame.random.normal(0, np.sqrt(sigma**2 - left**2), smooth.shape)
    frame.dim(0.65)


def clouds(frame: Frame) -> None:
    """Half of the light comes through to the second frame, with the noise of the same sky."""
    if frame.epoch:
        level, sigma = frame.sky()
        noise = frame.random.normal(0, sigma * np.sqrt(0.75), frame.pixels.shape)
        frame.pixels = level + 0.5 * (frame.pixels - level) + noise
        frame.dim(0.5)


def shallow_reference(frame: Frame) -> None:
    """A reference with twelve times the noise: nothing of a signal to noise of ten can be told to be new."""
    if not frame.epoch:
        frame.pixels += frame.random.normal(0, 12 * frame.sky()[1], frame.pixels.shape)


@dataclass
class Kind:
    """How a kind of night is made."""

    options: list[object] = field(default_factory=list)
    spoil: Callable[[Frame], None] | None = None
    scan: list[object] = field(default_factory=list)
    # Whether the comparison must say that it is blind.
    blind: bool = False


KINDS = {
    "plain": Kind(),
    "galaxies": Kind(["--stars", 60, "--galaxies", 2500]),
    "crowded": Kind(["--stars", 50_000]),
    "hot pixels": Kind(spoil=hot_pixels),
    "rays, resampled": Kind(["--cosmic-rays", 300], resampled),
    "undersampled": Kind(["--fwhm", 1.3]),
    "trailed": Kind(spoil=trailed),
    "clouds": Kind(spoil=clouds),
    "nine stars": Kind(["--stars", 9, "--galaxies", 40]),
    "wrong width": Kind(scan=["--seeing", 1.2], blind=True),
    "shallow reference": Kind(spoil=shallow_reference, blind=True),
}


def skynode(*words: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2):
        sys.exit(f"epoch_kinds: {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()}")
    return done


def near(rows: list[Row], x: float, y: float, radius: float, names: tuple[str, str] = ("x", "y")) -> bool:
    return any(abs(float(r[names[0]]) - x) < radius and abs(float(r[names[1]]) - y) < radius for r in rows)


def frames(kind: Kind, seed: int, size: int, folder: Path) -> list[Frame]:
    counts = ["--transients", 30, "--movers", 12]
    skynode(
        *("synthesize", folder / "n.fits", "--width", size, "--height", size, "--epochs", 2, "--interval", "1h"),
        *(*counts, "--seed", seed, *kind.options),
    )
    made = []
    for epoch in (0, 1):
        path = folder / f"n_e{epoch}.fits"
        with (folder / f"n_e{epoch}_truth.csv").open(encoding="utf-8") as lines:
            truth = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        with fits.open(path) as hdus:
            pixels, header = hdus[0].data.astype(np.float64), hdus[0].header
        frame = Frame(pixels, header, truth, epoch, np.random.default_rng((seed, epoch)))
        if kind.spoil:
            kind.spoil(frame)
            fits.writeto(path, frame.pixels.astype(np.float32), frame.header, overwrite=True)
        made.append(frame)
    return made


def changed(truth: list[Row]) -> list[Row]:
    return [r for r in truth if r["kind"] in ("transient", "mover") or abs(float(r.get("dmag") or 0)) > 0]


def night(name: str, seed: int, size: int, folder: Path) -> tuple[list[str], bool]:
    """A line of the table, and whether the comparison is blind where it must be and nowhere else."""
    kind = KINDS[name]
    old, new = (frame.truth for frame in frames(kind, seed, size, folder))
    done = skynode(
        *("scan", folder / "n_e1.fits", "--reference", folder / "n_e0.fits", "-o", folder / "out", "--slots", 2),
        *("--no-picture", "--no-multicast", "--format", "json", *kind.scan),
    )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    told = next((event for event in events if event.get("event") == "changes"), None)
    if told is None:
        reason = done.stderr.strip().rsplit("\n", 1)[-1].rsplit(": ", 1)[-1]
        return [name, str(seed), "refused: " + reason, "", "", "", "", ""], done.returncode == 2
    with (folder / "out/n_e1.changes.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    inside = [r for r in new if all(30 < float(r[axis]) < size - 30 for axis in ("x", "y"))]
    same = {r["id"] for r in old if r["kind"] == "transient"}
    cells = [name, str(seed)]
    for what in ("transient", "mover"):
        wanted = [r for r in inside if r["kind"] == what and float(r["snr"]) > 10 and r["id"] not in same - movers(r)]
        hits = sum(near(rows, float(r["x"]), float(r["y"]), 2.5, ("X_IMAGE", "Y_IMAGE")) for r in wanted)
        cells.append(f"{hits} / {len(wanted)}")
    there, before = changed(new), changed(old)
    false = sum(
        not near(there, float(r["X_IMAGE"]), float(r["Y_IMAGE"]), 3)
        and not near(before, float(r["X_OLD"]), float(r["Y_OLD"]), 3)
        for r in rows
    )
    share = f"{told['brightFound']} / {told['bright']}"
    half = f"S/N {told['depthSignalToNoise']:.1f}" if told.get("depthSignalToNoise") else ""
    cells += [str(false), share, half, "yes" if told["blind"] else "no"]
    return cells, told["blind"] == kind.blind and done.returncode == int(kind.blind)


def movers(row: Row) -> set[str]:
    """The sources that are elsewhere in each frame: they are new wherever they were."""
    return {row["id"]} if row["kind"] == "mover" else set()


def main() -> int:
    parser = argparse.ArgumentParser(prog="epoch_kinds", allow_abbrev=False)
    parser.add_argument("--kinds", default=",".join(KINDS), help="names with commas in between")
    parser.add_argument("--seeds", default="301,302", help="numbers with commas in between")
    parser.add_argument("--size", type=int, default=2048, help="pixels of a side")
    parser.add_argument("--keep", type=Path, help="folder for the frames and what came of them")
    parser.add_argument("--check", action="store_true", help="fail where one is blind that must not be, or the reverse")
    options = parser.parse_args()
    # A name may have a comma in it.
    kinds = [name for name in KINDS if name in options.kinds]
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
    right = True
    for name in kinds:
        for seed in map(int, options.seeds.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder)
                if options.keep:
                    place = options.keep / f"{name.replace(', ', '-').replace(' ', '-')}-{seed}"
                    place.mkdir(parents=True, exist_ok=True)
                cells, is_right = night(name, seed, options.size, place)
            right = right and is_right
            print("| " + " | ".join(cells) + " |", flush=True)
    return 1 if options.check and not right else 0


if __name__ == "__main__":
    sys.exit(main())
