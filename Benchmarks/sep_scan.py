"""A whole-frame scan by Python's sep, with the measurements of SExtractor's defaults, to a FITS table."""

import sys

import numpy as np
import sep
from astropy.io import fits
from astropy.table import Table
from astropy.wcs import WCS


def main(image: str, catalogue: str) -> None:
    with fits.open(image) as file:
        pixels = file[0].data.astype(np.float32)
        wcs = WCS(file[0].header)
    sep.set_extract_pixstack(3_000_000)
    sep.set_sub_object_limit(8192)
    background = sep.Background(pixels)
    background.subfrom(pixels)
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.float32)
    rms = background.globalrms
    found = sep.extract(pixels, 1.5, err=rms, minarea=5, filter_kernel=kernel, filter_type="conv")
    x, y, theta = found["x"], found["y"], np.clip(found["theta"], -np.pi / 2, np.pi / 2)
    a, b = np.maximum(found["a"], 0.3), np.maximum(found["b"], 0.3)
    kron, _ = sep.kron_radius(pixels, x, y, a, b, theta, 6.0)
    kron = np.maximum(2.5 * np.nan_to_num(kron), 3.5)
    flux, error, flag = sep.sum_ellipse(pixels, x, y, a, b, theta, kron, err=rms, subpix=1)
    aperture, aperture_error, _ = sep.sum_circle(pixels, x, y, 5.0, err=rms, subpix=5)
    half, _ = sep.flux_radius(pixels, x, y, 6.0 * a, 0.5, normflux=flux, subpix=5)
    window = sep.winpos(pixels, x, y, np.maximum(half, 0.5) * 2 / 2.35)
    sky = wcs.all_pix2world(np.c_[x, y], 0)
    Table(
        {
            "X_IMAGE": x + 1,
            "Y_IMAGE": y + 1,
            "XWIN_IMAGE": window[0] + 1,
            "YWIN_IMAGE": window[1] + 1,
            "ALPHA_J2000": sky[:, 0],
            "DELTA_J2000": sky[:, 1],
            "FLUX_AUTO": flux,
            "FLUXERR_AUTO": error,
            "FLUX_APER": aperture,
            "FLUXERR_APER": aperture_error,
            "FLUX_RADIUS": half,
            "KRON_RADIUS": kron,
            "A_IMAGE": a,
            "B_IMAGE": b,
            "THETA_IMAGE": np.degrees(theta),
            "FLAGS": found["flag"] | flag,
        }
    ).write(catalogue, overwrite=True)


main(*sys.argv[1:])
