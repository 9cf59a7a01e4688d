"""Frames and scans that the tests share. Everything is made in a folder that pytest removes again."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from scipy.spatial import cKDTree

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("PROGRAM") or ROOT / ".build/release/skynode").resolve()
SHARED = ROOT.parent / "shared/sky"

# The benchmarks run it with the same settings.
sys.path.insert(0, str(ROOT / "Benchmarks"))
import sextractor  # noqa: E402


def skynode(*arguments: object) -> str:
    """Runs the program with a node of its own, in nobody's cluster."""
    words = [str(PROGRAM), *map(str, arguments)]
    if arguments[0] == "scan":
        words += ["--slots", "2", "--no-multicast"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Frame:
    """A frame, and what is known of it."""

    path: Path
    truth: Path

    @property
    def stem(self) -> str:
        return self.path.name.removesuffix(".fits")


def made(folder: Path, name: str, *options: object) -> Frame:
    path = folder / f"{name}.fits"
    skynode("synthesize", path, *options)
    return Frame(path, folder / f"{name}_truth.csv")


@pytest.fixture(scope="session")
def frame(tmp_path_factory: pytest.TempPathFactory) -> Frame:
    return made(tmp_path_factory.mktemp("frame"), "field", "--seed", 5)


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Frame:
    return made(tmp_path_factory.mktemp("second"), "other, field", "--seed", 6, "--width", 700, "--height", 600)


@pytest.fixture(scope="session")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Frame:
    return made(tmp_path_factory.mktemp("dense"), "dense", "--seed", 7, "--stars", 30_000, "--galaxies", 2_000)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Frame:
    return made(tmp_path_factory.mktemp("large"), "large", "--seed", 11, "--width", 4096, "--height", 4096)


def scan(frame: Frame, folder: Path, *options: object) -> Table:
    skynode("scan", frame.path, "--output", folder / "catalogue.fits", *options)
    return Table.read(folder / "catalogue.fits", hdu=1)


def extracted(image: object, folder: Path, columns: str, **more: object) -> Table:
    """What SExtractor makes of an image, or of two whose names a comma parts: found on the first, measured on the second."""
    words = sextractor.command(image, folder, columns, **more)
    subprocess.run(words, check=True, capture_output=True, cwd=folder)
    return Table.read(folder / "sex.fits", hdu=1)


def real_frames() -> list[Path]:
    """The frames beside the project that are no weights; none where there are none."""
    return sorted(path for path in SHARED.glob("*.fit*") if ".weight" not in path.name)


def images(path: Path) -> Iterator[np.ndarray]:
    """The two-dimensional images of a file, one after the other, in their own type with the scale applied."""
    with fits.open(path) as file:
        for hdu in file:
            if hdu.is_image and hdu.header.get("NAXIS") == 2 and hdu.data is not None:
                yield hdu.data.astype(hdu.data.dtype.newbyteorder("="))


def pairs(one: Table, other: Table, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """The rows of each that are each other's nearest, at most so many pixels apart."""
    first, second = (np.c_[table["X_IMAGE"], table["Y_IMAGE"]] for table in (one, other))
    distance, there = cKDTree(second).query(first)
    _, back = cKDTree(first).query(second)
    rows = np.flatnonzero((distance <= radius) & (back[there] == np.arange(len(first))))
    return rows, there[rows]
