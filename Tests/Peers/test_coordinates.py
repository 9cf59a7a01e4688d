"""Right ascension and declination as astropy has them, for the distortions that cameras have."""

from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.wcs import WCS

from conftest import Frame, scan, skynode

SIP = {"A_ORDER": 3, "B_ORDER": 3, "A_2_0": 2e-5, "A_0_2": -1e-5, "A_1_1": 3e-6, "B_2_0": 4e-6, "B_1_1": -2e-5, "B_0_3": 1e-9}
TPV = {"PV1_0": 0.0, "PV1_1": 1.01, "PV1_2": 0.002, "PV1_4": 0.3, "PV1_7": -5.0, "PV2_1": 0.99, "PV2_2": -0.001, "PV2_5": 0.2}


@pytest.mark.parametrize("place", ["image", "primary"])
@pytest.mark.parametrize("kind", ["TAN", "TAN-SIP", "TPV", "SIN", "ZEA", "TAN, near the pole"])
def test_projections_and_distortions(kind: str, place: str, frame: Frame, tmp_path: Path):
    with fits.open(frame.path) as file:
        pixels, header = file[0].data, file[0].header.copy()
    name = kind.split(",")[0]
    header["CTYPE1"], header["CTYPE2"] = f"RA---{name}", f"DEC--{name}"
    if "pole" in kind:
        header["CRVAL2"] = 89.95
    header.update(SIP if name == "TAN-SIP" else TPV if name == "TPV" else {})
    path = tmp_path / "image.fits"
    if place == "image":
        fits.writeto(path, pixels, header)
    else:
        primary = fits.PrimaryHDU(header=header)
        fits.HDUList([primary, fits.ImageHDU(pixels)]).writeto(path)
    ours = scan(Frame(path, frame.truth), tmp_path)
    # What SCAMP reads: the header in a cell.
    skynode("scan", path, "--output", tmp_path / "catalogue.ldac")
    with fits.open(tmp_path / "catalogue.ldac") as file:
        cards = np.ravel(file[1].data[0][0])
    assert any(str(card).startswith(f"CTYPE1  = 'RA---{name}") for card in cards)
    wcs = WCS(header)
    for x, y, alpha, delta in [
        ("X_IMAGE", "Y_IMAGE", "ALPHA_J2000", "DELTA_J2000"),
        ("XWIN_IMAGE", "YWIN_IMAGE", "ALPHAWIN_J2000", "DELTAWIN_J2000"),
    ]:
        theirs = wcs.all_pix2world(np.c_[ours[x], ours[y]], 1)
        across = (ours[alpha] - theirs[:, 0] + 180) % 360 - 180
        # Pixels are written to a ten thousandth, which is 1e-8 degrees.
        assert np.abs(across * np.cos(np.radians(theirs[:, 1]))).max() < 5e-8
        assert np.abs(ours[delta] - theirs[:, 1]).max() < 5e-8
