"""How faint a scan and a comparison say that they see, against stars that photutils makes and puts into the files themselves.

The program adds its stars to pixels that it has read; here they are painted by another program's models into a copy of the file,
which is then scanned like any other. The magnitude of which half are found must agree within 0.1.
"""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from photutils.psf import CircularGaussianPRF, ImagePSF, MoffatPSF
from scipy.ndimage import shift
from scipy.optimize import minimize
from scipy.spatial import cKDTree

from conftest import PROGRAM, SHARED

ZERO_POINT = 25
# Of the stars put in, about this many are counted: the magnitude of which half are found is then known to some 0.03.
STARS = 2000
# Magnitudes to either side of it in which stars are put in.
SPAN = 1.5
# The steepness of Moffat's profile that the program has by default.
BETA = 3.0


def events(*arguments: object) -> list[dict]:
    """What the program says as JSON. A comparison that calls itself blind ends with 1."""
    words = [str(PROGRAM), "scan", *map(str, arguments), "--zero-point", str(ZERO_POINT), "--format", "json"]
    done = subprocess.run([*words, "--slots", "2", "--no-multicast"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def event(lines: list[dict], name: str) -> dict:
    return next(line for line in lines if line["event"] == name)


def half(magnitudes: np.ndarray, found: np.ndarray) -> float:
    """The magnitude of which half are found: a logistic function that starts from any share, by its likelihood."""

    def share(parameters: np.ndarray, at: np.ndarray) -> np.ndarray:
        top, middle, width = parameters
        return top / (1 + np.exp(np.clip((at - middle) / max(width, 0.02), -50, 50)))

    def unlikely(parameters: np.ndarray) -> float:
        chance = np.clip(share(parameters, magnitudes), 1e-6, 1 - 1e-6)
        return -float(np.sum(np.where(found, np.log(chance), np.log(1 - chance))))

    bounds = [(0.5, 1), (magnitudes.min(), magnitudes.max()), (0.02, 2)]
    fit = minimize(unlikely, [0.97, float(np.median(magnitudes)), 0.2], bounds=bounds, method="Nelder-Mead")
    grid = np.linspace(magnitudes.min(), magnitudes.max(), 3001)
    return float(grid[np.argmin(np.abs(share(fit.x, grid) - 0.5))])


class Field:
    """A real frame's first image, and copies of it with stars."""

    def __init__(self, path: Path):
        with fits.open(path) as file:
            image = next(each for each in file if each.header.get("NAXIS") == 2 and each.data is not None)
            self.header = image.header.copy()
            self.values = image.data.astype(np.float32)
        for key in ("BZERO", "BSCALE", "BLANK", "XTENSION", "PCOUNT", "GCOUNT", "EXTNAME"):
            self.header.remove(key, ignore_missing=True)
        self.random = np.random.default_rng(14)

    def write(self, path: Path, values: np.ndarray) -> Path:
        fits.writeto(path, values, self.header, overwrite=True, output_verify="silentfix")
        return path

    def stars(self, count: int, middle: float, width: float) -> Table:
        """Stars five widths apart and two from the edges, where all pixels near have values."""
        height, columns = self.values.shape
        places: list[tuple[float, float]] = []
        for _ in range(100 * count):
            if len(places) == count:
                break
            x, y = self.random.uniform(2 * width, columns - 1 - 2 * width), self.random.uniform(2 * width, height - 1 - 2 * width)
            if any((x - a) ** 2 + (y - b) ** 2 < (5 * width) ** 2 for a, b in places):
                continue
            near = self.values[max(int(y - width), 0) : int(y + width) + 2, max(int(x - width), 0) : int(x + width) + 2]
            if np.isfinite(near).all():
                places.append((x, y))
        table = Table(rows=places, names=("x", "y"))
        table["magnitude"] = self.random.uniform(middle - SPAN, middle + SPAN, len(places))
        return table

    def look(self, catalogue: Table, width: float) -> "ImagePSF | None":
        """How the frame's own stars look, by photutils from some thirty that stand alone; None where there are fewer than eight."""
        everything = places(catalogue)
        good = (np.asarray(catalogue["FLAGS"]) == 0) & (np.abs(np.asarray(catalogue["FWHM_IMAGE"], float) / width - 1) < 0.2)
        good &= np.asarray(catalogue["FLUX_AUTO"], float) > 50 * np.asarray(catalogue["FLUXERR_AUTO"], float)
        lonely = [len(each) == 1 for each in cKDTree(everything).query_ball_point(everything, 4 * width)]
        order = np.argsort(-np.asarray(catalogue["FLUX_AUTO"], float))
        chosen = [index for index in order if good[index] and lonely[index]]
        # The very brightest may be beyond what the detector tells evenly.
        chosen = chosen[len(chosen) // 10 :][:30]
        reach = int(np.ceil(4 * width))
        table = Table(everything[chosen], names=("x", "y"))
        inside = (table["x"] > reach) & (table["x"] < self.values.shape[1] - reach)
        inside &= (table["y"] > reach) & (table["y"] < self.values.shape[0] - reach)
        table = table[inside]
        y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
        # What the program calls a star's flux is that of its catalogue: the light within some two and a half widths.
        apart, whole = np.hypot(x, y), 2.5 * width
        stamps = []
        for star in table:
            column, row = round(star["x"]), round(star["y"])
            part = self.values[row - reach : row + reach + 1, column - reach : column + reach + 1].astype(np.float64)
            edge = np.r_[part[0], part[-1], part[:, 0], part[:, -1]]
            if not np.isfinite(part).all():
                continue
            centred = shift(part - np.median(edge), (row - star["y"], column - star["x"]), order=5, mode="nearest")
            stamps.append(centred / centred[apart <= whole].sum())
        if len(stamps) < 8:
            return None
        # A median, because faint neighbours are in some of them. (EPSFBuilder of photutils 3.0 makes a chessboard of them.)
        mean = np.median(stamps, axis=0)
        mean[apart > reach] = 0
        return ImagePSF(mean / mean[apart <= whole].sum())

    def painted(self, stars: Table, width: float, profile: "str | ImagePSF") -> np.ndarray:
        values = self.values.astype(np.float64)
        reach = int(np.ceil(8 * width))
        for star in stars:
            flux = 10 ** (-0.4 * (star["magnitude"] - ZERO_POINT))
            column, row = int(round(star["x"])), int(round(star["y"]))
            box = np.s_[
                max(row - reach, 0) : min(row + reach + 1, values.shape[0]),
                max(column - reach, 0) : min(column + reach + 1, values.shape[1]),
            ]
            y, x = np.mgrid[box]
            if profile == "gaussian":
                values[box] += CircularGaussianPRF(flux=flux, x_0=star["x"], y_0=star["y"], fwhm=width)(x, y)
            elif isinstance(profile, ImagePSF):
                reach_of_look = int(np.ceil(4 * width))
                light = profile.evaluate(x, y, flux, star["x"], star["y"])
                values[box] += np.where(np.maximum(np.abs(x - column), np.abs(y - row)) < reach_of_look, light, 0)
            else:
                alpha = width / 2 / np.sqrt(2 ** (1 / BETA) - 1)
                model = MoffatPSF(flux=flux, x_0=star["x"], y_0=star["y"], alpha=alpha, beta=BETA)
                # The mean of 5 x 5 points for each pixel: the profile by itself is a value at a point.
                steps = (np.arange(5) - 2) / 5
                values[box] += np.mean([model(x + a, y + b) for a in steps for b in steps], axis=0)
        return values.astype(np.float32)


def places(table: Table, x: str = "X_IMAGE", y: str = "Y_IMAGE") -> np.ndarray:
    """Counted from 0, as photutils does."""
    return np.c_[np.asarray(table[x], float) - 1, np.asarray(table[y], float) - 1].reshape(-1, 2)


def near(stars: Table, sources: np.ndarray, radius: float) -> np.ndarray:
    """Which of the stars have one of the sources within the radius."""
    if not len(sources):
        return np.zeros(len(stars), bool)
    distance, _ = cKDTree(sources).query(np.c_[stars["x"], stars["y"]])
    return distance < radius


def rounds_of(field: Field, width: float, tile: float = 12) -> tuple[int, int]:
    """How many stars go into a frame at a time, so that they change little of it, and how many frames that takes."""
    at_a_time = int(min(max(np.isfinite(field.values).sum() / (tile * width) ** 2, 10), 400))
    return at_a_time, -(-STARS // at_a_time)


FRAMES = (
    "eso085-030-004.fit.gz",
    "sex_galaxies.fits.gz",
    "jw02561001002-02561-o001_t003_f200w.fits.gz",
    "jw01324001001-01324-o001_t001_f200w.fits.gz",
    "obs_test_raw_v1_fg.fits.gz",
)
# Of frames with too few stars to measure how wide they are.
WIDTHS = {"jw01324001001-01324-o001_t001_f200w.fits.gz": 2.6}


@pytest.mark.parametrize("name", FRAMES)
def test_the_depth_of_a_scan(name: str, tmp_path: Path):
    if not (SHARED / name).exists():
        pytest.skip(f"{SHARED / name} is not here")
    field = Field(SHARED / name)
    frame = field.write(tmp_path / "frame.fits", field.values)
    named = ["--inject-fwhm", WIDTHS[name]] if name in WIDTHS else []
    first = event(events(frame, "-o", tmp_path / "first", "--inject", 1000, "--inject-profile", "gaussian", *named), "injection")
    width, middle = first["fwhm"], first["magnitude50"]
    at_a_time, rounds = rounds_of(field, width)
    told = event(
        events(
            # Twenty frames' worth is all that the program takes.
            frame, "-o", tmp_path / "told", "--inject", min(2 * STARS, 20 * at_a_time), "--inject-profile", "gaussian", "--inject-fwhm", width,
            "--inject-magnitudes", f"{middle - SPAN}:{middle + SPAN}",
        ),
        "injection",
    )["magnitude50"]
    there = places(Table.read(tmp_path / "told/frame.csv", format="ascii.csv"))
    radius = max(2, width)
    magnitudes, found = [], []
    for number in range(rounds):
        stars = field.stars(at_a_time, middle, width)
        stars = stars[~near(stars, there, radius)]
        painted = field.write(tmp_path / f"{number}.fits", field.painted(stars, width, "gaussian"))
        events(painted, "-o", tmp_path / f"{number}.csv")
        seen = places(Table.read(tmp_path / f"{number}.csv", format="ascii.csv"))
        magnitudes += list(stars["magnitude"])
        found += list(near(stars, seen, radius))
        painted.unlink()
    depth = half(np.array(magnitudes), np.array(found))
    print(f"{name}: half of the stars of magnitude {told:.3f} by the program, {depth:.3f} by photutils ({len(found)} stars, {width:.2f} wide)")
    assert abs(depth - told) <= 0.1


# New image, reference; without a reference the frame itself, a little moved, with noise of its own.
PAIRS = (
    ("jw02561001002-02561-o001_t003_f200w.fits.gz", "jw01324001001-01324-o001_t001_f200w.fits.gz"),
    ("jw01324001001-01324-o001_t001_f200w.fits.gz", "jw02561001002-02561-o001_t003_f200w.fits.gz"),
    ("obs_test_raw_v1_fg.fits.gz", "obs_test_raw_v2_fg.fits.gz"),
    ("eso085-030-004.fit.gz", None),
    ("sex_galaxies.fits.gz", None),
)


def moved(field: Field, path: Path) -> Path:
    """The frame from 7 columns and 4 rows on, with as much noise again as it has."""
    good = field.values[np.isfinite(field.values)]
    for _ in range(10):
        good = good[np.abs(good - np.median(good)) < 3 * good.std()]
    values = np.roll(field.values, (-4, -7), axis=(0, 1))[:-4, :-7]
    noise = np.random.default_rng(15).normal(0, float(good.std()), values.shape)
    header = field.header.copy()
    for key, shift in (("CRPIX1", 7), ("CRPIX2", 4)):
        if key in header:
            header[key] -= shift
    fits.writeto(path, (values + noise).astype(np.float32), header, overwrite=True, output_verify="silentfix")
    return path


@pytest.mark.parametrize("name,reference", PAIRS)
def test_the_depth_of_a_comparison(name: str, reference: str | None, tmp_path: Path):
    if not (SHARED / name).exists():
        pytest.skip(f"{SHARED / name} is not here")
    field = Field(SHARED / name)
    frame = field.write(tmp_path / "frame.fits", field.values)
    other = SHARED / reference if reference else moved(field, tmp_path / "other.fits")
    told = event(events(frame, "--reference", other, "-o", tmp_path / "told", "--inject-changes", 20_000, "--difference"), "changes")
    width, middle = told["seeing"]["fwhm"], told["depth"]
    radius = max(2, width)
    # Places of the reference's sources in the image come from those that both have, by the frames' own pattern: a source of the
    # image alone is enough to leave a star out, and those of the reference alone are few.
    catalogue = Table.read(tmp_path / "told/frame.csv", format="ascii.csv")
    there = places(catalogue)
    # The depth is that of what is compared; how much of the image that is, the program says elsewhere.
    with fits.open(tmp_path / "told/frame.difference.fits") as file:
        compared = np.isfinite(file["NOISE"].data)
    look = field.look(catalogue, width)
    profile = "moffat" if look is None else look
    magnitudes, found = [], []
    at_a_time, rounds = rounds_of(field, width, 20)
    for number in range(min(rounds, 40)):
        stars = field.stars(at_a_time, middle, width)
        stars = stars[~near(stars, there, radius)]
        stars = stars[compared[np.rint(stars["y"]).astype(int), np.rint(stars["x"]).astype(int)]]
        painted = field.write(tmp_path / f"{number}.fits", field.painted(stars, width, profile))
        events(painted, "--reference", other, "-o", tmp_path / str(number), "--inject-changes", 0, "--no-picture")
        rows = Table.read(tmp_path / str(number) / f"{number}.changes.csv", format="ascii.csv")
        magnitudes += list(stars["magnitude"])
        found += list(near(stars, places(rows), radius))
        painted.unlink()
    depth = half(np.array(magnitudes), np.array(found))
    print(f"{name}: half of magnitude {middle:.3f} by the comparison, {depth:.3f} by photutils ({len(found)} stars, {width:.2f} wide, {'Moffat' if look is None else 'of their own look'})")
    assert abs(depth - middle) <= 0.1
