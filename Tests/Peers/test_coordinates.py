"""Right ascension and declination as astropy has them, for the distortions that cameras have, and all celestial systems."""

from pathlib import Path

import astropy.units as u
import numpy as np
import pytest
from astropy.coordinates import FK4, FK5, BarycentricMeanEcliptic, FK4NoETerms, Galactic, SkyCoord
from astropy.io import fits
from astropy.table import Table
from astropy.time import Time
from astropy.wcs import WCS

from conftest import Frame, made, scan, skynode

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


SMALL = {"CRPIX1": 130.0, "CRPIX2": 120.0, "CRVAL1": 265.0, "CRVAL2": -31.0, "CDELT1": -1e-4, "CDELT2": 1e-4}
# What polynomials a header has beside its projection; SCAMP wrote TAN with those of TPV, other programs both.
PROJECTIONS = {
    "TAN": {}, "SIN": {}, "ZEA": {}, "CAR": {}, "AIT": {}, "TAN-SIP": SIP, "TPV": TPV, "TAN, SIP": SIP, "TAN, TPV": TPV,
    "TAN, both": SIP | TPV, "TAN-SIP, both": SIP | TPV, "TPV, both": SIP | TPV,
}
B1950, B1900 = Time(1950, format="byear"), Time(1900, format="byear")
J1950, J1975 = Time(1950, format="jyear"), Time(1975, format="jyear")
SEEN = Time("1983-07-02T12:00:00")
# Cards, and astropy's frame; none where it finds out from the header itself.
SYSTEMS = {
    "ICRS": ({"RADESYS": "ICRS"}, None),
    "nothing said": ({}, None),
    "FK5": ({"RADESYS": "FK5"}, None),
    "equinox 2000": ({"EQUINOX": 2000.0}, None),
    "FK5 1975": ({"RADESYS": "FK5", "EQUINOX": 1975.0}, FK5(equinox=J1975)),
    "FK5 1950": ({"RADESYS": "FK5", "EQUINOX": 1950.0}, FK5(equinox=J1950)),
    "FK4": ({"RADESYS": "FK4"}, FK4(equinox=B1950)),
    "equinox 1950": ({"EQUINOX": 1950.0}, None),
    "old keywords": ({"RADECSYS": "FK4", "EPOCH": 1950.0}, FK4(equinox=B1950)),
    "FK4 with a date": ({"RADESYS": "FK4", "DATE-OBS": SEEN.isot}, FK4(equinox=B1950, obstime=SEEN)),
    "FK4 with MJD-OBS": ({"RADESYS": "FK4", "EQUINOX": 1950.0, "MJD-OBS": SEEN.mjd}, FK4(equinox=B1950, obstime=SEEN)),
    "FK4 1900": ({"RADESYS": "FK4", "EQUINOX": 1900.0}, FK4(equinox=B1900)),
    "FK4-NO-E": ({"RADESYS": "FK4-NO-E", "EQUINOX": 1950.0}, None),
    "galactic": ({"GLON": "GLAT"}, None),
    "galactic, equinox said": ({"GLON": "GLAT", "EQUINOX": 1950.0}, Galactic()),
    "ecliptic": ({"ELON": "ELAT"}, BarycentricMeanEcliptic()),
    "ecliptic 1975": ({"ELON": "ELAT", "RADESYS": "FK5", "EQUINOX": 1975.0}, BarycentricMeanEcliptic(equinox=J1975)),
    "ecliptic B1950": ({"ELON": "ELAT", "EQUINOX": 1950.0}, BarycentricMeanEcliptic(equinox=B1950)),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    frame = made(tmp_path_factory.mktemp("small"), "small", "--seed", 9, "--width", 256, "--height", 256)
    return fits.getdata(frame.path)


def axes(longitude: str, latitude: str, projection: str) -> dict[str, str]:
    return {"CTYPE1": f"{longitude:-<4}-{projection}", "CTYPE2": f"{latitude:-<4}-{projection}"}


def off(ours: Table, theirs: SkyCoord) -> float:
    """The largest distance in arcseconds."""
    assert len(ours) > 10
    return SkyCoord(ours["ALPHA_J2000"], ours["DELTA_J2000"], unit="deg").separation(theirs).arcsec.max()


@pytest.mark.parametrize("system", SYSTEMS)
def test_celestial_systems(system: str, small: np.ndarray, tmp_path: Path):
    cards, frame = SYSTEMS[system]
    cards = dict(cards)
    names = next(((name, cards.pop(name)) for name in ("GLON", "ELON") if name in cards), ("RA", "DEC"))
    images = fits.HDUList([fits.PrimaryHDU()])
    for projection, polynomials in PROJECTIONS.items():
        header = fits.Header({**SMALL, **axes(*names, projection.split(",")[0]), **cards, **polynomials})
        images.append(fits.ImageHDU(small, header))
    images.writeto(tmp_path / "images.fits")
    skynode("scan", tmp_path / "images.fits", "--output", tmp_path / "out", "--format-catalogue", "fits")
    for hdu, projection in enumerate(PROJECTIONS, start=1):
        ours = Table.read(tmp_path / f"out/images-hdu{hdu}.cat.fits", hdu=1)
        wcs = WCS(images[hdu].header)
        pixels = ours["X_IMAGE"] - 1, ours["Y_IMAGE"] - 1
        if frame is None:
            theirs = wcs.pixel_to_world(*pixels).icrs
        else:
            theirs = SkyCoord(*wcs.all_pix2world(*pixels, 0) * u.deg, frame=frame).icrs
        distance = off(ours, theirs)
        print(f"{system}, {projection}: {distance * 1000:.3f} mas")
        # Pixels are written to a ten thousandth.
        assert distance < 0.002


def table(extension: str, version: int, values: np.ndarray, step: float) -> fits.ImageHDU:
    cards = {"CRPIX1": 1.0, "CRPIX2": 2.0, "CRVAL1": 5.0, "CRVAL2": 40.0, "CDELT1": step, "CDELT2": step}
    return fits.ImageHDU(values.astype(np.float32), fits.Header(cards), name=extension, ver=version)


@pytest.mark.parametrize("projection", ["TAN", "TAN-SIP"])
def test_tables_of_distortions(projection: str, small: np.ndarray, tmp_path: Path):
    header = fits.Header({**SMALL, **axes("RA", "DEC", projection), **(SIP if projection == "TAN-SIP" else {})})
    kinds = [("CPDIS", "DP", "WCSDVARR"), ("D2IMDIS", "D2IM", "D2IMARR")]
    for kind, record, _ in kinds:
        for axis in (1, 2):
            header[f"{kind}{axis}"] = "Lookup"
            for field in (f"EXTVER: {axis}", "NAXES: 2", "AXIS.1: 1", "AXIS.2: 2"):
                header.append((f"{record}{axis}", field), end=True)
    random = np.random.default_rng(4)
    tables = [
        table(extension, axis, random.uniform(-3, 3, (7, 9)), 28.0) for _, _, extension in kinds for axis in (1, 2)
    ]
    path = tmp_path / "image.fits"
    fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(small, header), *tables]).writeto(path)
    ours = scan(Frame(path, tmp_path), tmp_path, "--hdu", 1)
    with fits.open(path) as file:
        wcs = WCS(file[1].header, file)
        theirs = SkyCoord(*wcs.all_pix2world(ours["X_IMAGE"], ours["Y_IMAGE"], 1) * u.deg)
    assert wcs.cpdis1 is not None and wcs.det2im2 is not None
    assert off(ours, theirs) < 0.002


@pytest.mark.parametrize(
    "cards, reason",
    [
        (axes("HPLN", "HPLT", "TAN"), "helioprojective (HPLN-TAN, HPLT-TAN)"),
        (axes("RA", "DEC", "TAN") | {"RADESYS": "GAPPT"}, "of the reference system GAPPT"),
        (axes("RA", "DEC", "TAN") | {"EQUINOX": 1e300}, "of equinox 1e+300"),
        ({"CTYPE1": "LINEAR", "CTYPE2": "LINEAR"}, "linear (LINEAR, LINEAR)"),
        (axes("RA", "DEC", "TAN") | {"CPDIS1": "Lookup", "DP1": "EXTVER: 1"}, "tables of distortions"),
        ({}, None),
    ],
)
def test_coordinates_that_cannot_be_had(cards: dict, reason: str | None, small: np.ndarray, tmp_path: Path):
    fits.writeto(tmp_path / "image.fits", small, fits.Header({**SMALL, **cards} if cards else {}))
    lines = skynode("scan", tmp_path / "image.fits", "--output", tmp_path / "out").splitlines()
    told = [line for line in lines if line.startswith("no coordinates: ")]
    assert len(told) == (reason is not None) and (reason or "") in "".join(told)
    assert ("no coordinates" in (tmp_path / "out/image.html").read_text()) == (reason is not None)
