"""Synthetic frames of every kind, read by astropy."""

from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from astropy.wcs import WCS

from conftest import skynode

SMALL = ("--width", 300, "--height", 200, "--seed", 9)


@pytest.mark.parametrize("bitpix", [8, 16, 32, 64, -64])
def test_every_format_has_the_same_pixels(bitpix: int, tmp_path: Path):
    skynode("synthesize", tmp_path / "float.fits", *SMALL, "--nan-block")
    skynode("synthesize", tmp_path / "other.fits", *SMALL, "--nan-block", "--bitpix", bitpix)
    expected = fits.getdata(tmp_path / "float.fits")
    # Told that 16 bits are unsigned integers, astropy has no number for BLANK.
    with fits.open(tmp_path / "other.fits", uint=False, do_not_scale_image_data=False) as file:
        file.verify("exception")
        pixels = np.asarray(file[0].data, float)
    header = fits.open(tmp_path / "other.fits", do_not_scale_image_data=True)[0].header
    quantum = header.get("BSCALE", 1) if bitpix > 0 else 0
    assert header["BITPIX"] == bitpix
    np.testing.assert_array_equal(np.isnan(pixels), np.isnan(expected))
    # astropy computes scaled pixels in single precision.
    assert np.nanmax(np.abs(pixels - expected)) <= 0.5 * quantum + 0.01 * (quantum > 1)


def test_every_epoch_has_its_own_right_coordinates(tmp_path: Path):
    options = ("--epochs", 4, "--interval", "1h", "--transients", 12, "--movers", 12, "--variables", 6)
    skynode("synthesize", tmp_path / "night.fits", *SMALL, *options, "--cosmic-rays", 5, "--trails", 1)
    tracks: dict[int, list[tuple[float, float, float, float]]] = {}
    for epoch in range(4):
        header = fits.getheader(tmp_path / f"night_e{epoch}.fits")
        truth = Table.read(tmp_path / f"night_e{epoch}_truth.csv", format="csv")
        x, y = WCS(header).wcs_world2pix(truth["ra"], truth["dec"], 1)
        assert np.hypot(x - truth["x"], y - truth["y"]).max() < 0.01
        zero = header["MAGZERO"]
        celestial = truth[(truth["kind"] != "cosmic") & (truth["kind"] != "trail")]
        expected = 10 ** (-0.4 * (celestial["mag"] - zero)) * header["EXPTIME"]
        np.testing.assert_allclose(celestial["flux"], expected, rtol=1e-3)
        for row in truth[truth["kind"] == "mover"]:
            hours = (header["MJD-OBS"] - 60310.25) * 24
            tracks.setdefault(row["id"], []).append((hours, row["ra"], row["dec"], row["rate_arcsec_h"]))
    for track in tracks.values():
        (hours, ra, dec, rate), *later = track
        for when, alpha, delta, _ in later:
            moved = np.hypot((alpha - ra) * np.cos(np.radians(dec)), delta - dec) * 3600
            assert abs(moved - rate * (when - hours)) < 0.01
