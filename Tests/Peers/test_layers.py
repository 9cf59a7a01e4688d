"""Planes of cubes, plain and compressed, and colours of a Bayer frame, as astropy has them."""

from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from astropy.wcs import WCS

from conftest import Frame, made, scan, skynode
from test_coordinates import SIP

COLOURS = {"R": "R", "G1": "G", "G2": "G", "B": "B"}


@pytest.fixture(scope="module")
def skies(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[np.ndarray, fits.Header]]:
    folder = tmp_path_factory.mktemp("skies")
    found = []
    for seed in range(4):
        frame = made(folder, f"sky{seed}", "--seed", seed, "--width", 300, "--height", 220, "--stars", 250)
        with fits.open(frame.path) as file:
            found.append((file[0].data.astype(np.float32), file[0].header.copy()))
    return found


def catalogue(path: Path, folder: Path, *options: object) -> Table:
    return scan(Frame(path, path), folder, *options)


def same(one: Table, other: Table) -> bool:
    return len(one) == len(other) > 20 and all(np.array_equal(one[name], other[name], equal_nan=True) for name in one.colnames)


@pytest.mark.parametrize("compression", [None, "RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1"])
def test_a_plane_is_the_image_that_astropy_has(compression: str | None, skies, tmp_path: Path):
    cube = np.stack([pixels for pixels, _ in skies])
    if compression is None:
        fits.writeto(tmp_path / "cube.fits", cube)
    else:
        # Whole numbers come back from every compression as they were.
        tiles = (1, 16, 300) if compression == "HCOMPRESS_1" else None
        hdu = fits.CompImageHDU(cube.round().astype(np.int32), compression_type=compression, tile_shape=tiles)
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(tmp_path / "cube.fits")
    with fits.open(tmp_path / "cube.fits") as file:
        planes = (file[0] if compression is None else file[1]).data
    for plane in (1, 3, 4):
        fits.writeto(tmp_path / "alone.fits", planes[plane - 1], overwrite=True)
        alone = catalogue(tmp_path / "alone.fits", tmp_path)
        assert same(catalogue(tmp_path / "cube.fits", tmp_path, "--plane", plane), alone), plane


def test_planes_of_higher_axes_are_counted_as_numpy_counts_them(skies, tmp_path: Path):
    array = np.stack([pixels for pixels, _ in skies]).reshape(2, 1, 2, 220, 300)
    fits.writeto(tmp_path / "cube.fits", array)
    for plane in range(1, 5):
        fits.writeto(tmp_path / "alone.fits", array.reshape(4, 220, 300)[plane - 1], overwrite=True)
        ours = catalogue(tmp_path / "cube.fits", tmp_path, "--plane", plane)
        assert same(ours, catalogue(tmp_path / "alone.fits", tmp_path)), plane


FREQUENCY = {"CTYPE3": "FREQ", "CUNIT3": "Hz", "CRVAL3": 1.4e9, "CDELT3": 1e6}
DISTORTED = {"CTYPE1": "RA---TAN-SIP", "CTYPE2": "DEC--TAN-SIP"} | SIP


@pytest.mark.parametrize("axis", [FREQUENCY, {"CTYPE3": "STOKES"}, {}, DISTORTED, DISTORTED | FREQUENCY])
def test_a_cube_has_the_coordinates_of_its_celestial_axes(axis: dict, skies, tmp_path: Path):
    header = skies[0][1].copy()
    header.update(axis)
    fits.writeto(tmp_path / "cube.fits", np.stack([pixels for pixels, _ in skies]), header)
    ours = catalogue(tmp_path / "cube.fits", tmp_path, "--plane", 2)
    with fits.open(tmp_path / "cube.fits") as file:
        theirs = WCS(file[0].header, naxis=2).all_pix2world(np.c_[ours["X_IMAGE"], ours["Y_IMAGE"]], 1)
    assert np.abs((ours["ALPHA_J2000"] - theirs[:, 0] + 180) % 360 - 180).max() < 5e-8
    assert np.abs(ours["DELTA_J2000"] - theirs[:, 1]).max() < 5e-8


@pytest.mark.parametrize("pattern", ["RGGB", "BGGR", "GRBG", "GBRG"])
def test_a_colour_is_every_second_pixel_at_its_place_in_the_frame(pattern: str, skies, tmp_path: Path):
    pixels, header = skies[1]
    fits.writeto(tmp_path / "frame.fits", pixels, header)
    skynode("scan", tmp_path / "frame.fits", "--output", f"{tmp_path}/out/", "--bayer", pattern, "--format-catalogue", "fits")
    cells = {(x, y): pattern[2 * y + x] for y in (0, 1) for x in (0, 1)}
    red_row = next(y for (_, y), letter in cells.items() if letter == "R")
    for colour, letter in COLOURS.items():
        rows = [red_row] if colour == "G1" else [1 - red_row] if colour == "G2" else [0, 1]
        (x, y) = next(place for place, name in cells.items() if name == letter and place[1] in rows)
        fits.writeto(tmp_path / "alone.fits", pixels[y::2, x::2], overwrite=True)
        alone = catalogue(tmp_path / "alone.fits", tmp_path)
        ours = Table.read(tmp_path / f"out/frame-{colour}.cat.fits", hdu=1)
        assert len(ours) == len(alone) > 10
        assert np.array_equal(ours["FLUX_AUTO"], alone["FLUX_AUTO"])
        # Positions are kept to some 1e-12.
        assert np.abs(ours["X_IMAGE"] - (2 * (alone["X_IMAGE"] - 1) + x + 1)).max() < 1e-9
        assert np.abs(ours["YWIN_IMAGE"] - (2 * (alone["YWIN_IMAGE"] - 1) + y + 1)).max() < 1e-9
        sky = WCS(header).all_pix2world(np.c_[ours["X_IMAGE"], ours["Y_IMAGE"]], 1)
        assert np.abs((ours["ALPHA_J2000"] - sky[:, 0] + 180) % 360 - 180).max() < 5e-8
        assert ours.meta["BAYER"] == pattern and ours.meta["COLOR"] == colour
