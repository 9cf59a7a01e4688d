"""Whether the programs that astronomers use read what is written, and find the same numbers in every format."""

import json
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.io.votable import validate as votable_validate
from astropy.table import Table
from regions import Regions

from conftest import Frame, skynode

FORMATS = "fits,ldac,csv,ecsv,votable,ndjson,reg"


@pytest.fixture(scope="module", params=["one image", "several images"])
def written(request: pytest.FixtureRequest, frame: Frame, second: Frame, tmp_path_factory: pytest.TempPathFactory):
    """Folder and name of what was written, and how many images it is of."""
    folder = tmp_path_factory.mktemp("written")
    images = [frame.path] if request.param == "one image" else [frame.path, second.path]
    skynode("scan", *images, "--output", folder, "--format-catalogue", FORMATS, "--aperture", "5,10", "--no-picture")
    return folder / (frame.stem if len(images) == 1 else "merged"), len(images)


def ending(path: Path, text: str) -> Path:
    return path.with_name(path.name + text)


def test_every_format_has_the_same_numbers(written):
    stem, count = written
    table = Table.read(ending(stem, ".cat.fits"), hdu=1)
    assert len(table) > 500
    lines = ending(stem, ".ndjson").read_text().splitlines()
    ldac = [Table.read(ending(stem, ".ldac"), hdu=2 * number + 2) for number in range(count)]
    others = {
        "csv": Table.read(ending(stem, ".csv"), format="ascii.csv"),
        "ecsv": Table.read(ending(stem, ".ecsv"), format="ascii.ecsv"),
        "votable": Table.read(ending(stem, ".vot"), format="votable"),
        "ndjson": Table(rows=[json.loads(line) for line in lines]),
    }
    for name, other in others.items():
        assert other.colnames == table.colnames, name
        assert len(other) == len(table), name
        for column in table.colnames:
            one, two = table[column], other[column]
            if column == "FILE":
                assert [str(each).strip() for each in one] == [str(each) for each in two], name
                continue
            one, two = np.asarray(one, float), np.ma.filled(np.ma.asarray(two).astype(float), np.nan)
            # The text formats have fixed decimals.
            np.testing.assert_allclose(two, one, rtol=2e-5, atol=6e-3, equal_nan=True, err_msg=f"{name} {column}")
    assert sum(map(len, ldac)) == len(table)
    np.testing.assert_array_equal(np.concatenate([each["X_IMAGE"] for each in ldac]), table["X_IMAGE"])


def test_units_and_parameters_are_read(written):
    stem, _ = written
    for table in (Table.read(ending(stem, ".ecsv")), Table.read(ending(stem, ".cat.fits"), hdu=1)):
        assert str(table["X_IMAGE"].unit) == "pix" or str(table["X_IMAGE"].unit) == "pixel"
        assert str(table["ALPHA_J2000"].unit) == "deg"
        assert table.meta["THRESH"] == 1.5
        assert str(table.meta["CREATOR"]).startswith("skynode ")


def test_fits_is_valid(written):
    stem, _ = written
    for name in (".cat.fits", ".ldac"):
        done = subprocess.run(["fitsverify", ending(stem, name)], capture_output=True, text=True)
        # The name of LDAC's column, which has blanks, is worth a warning.
        assert " 0 error(s)." in done.stdout, done.stdout
        assert name == ".ldac" or " 0 warning(s)" in done.stdout, done.stdout


def test_votable_is_valid(written):
    stem, _ = written
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert votable_validate(str(ending(stem, ".vot")), output=open("/dev/null", "w"))


def test_regions_are_read(written):
    stem, count = written
    table = Table.read(ending(stem, ".cat.fits"), hdu=1)
    regions = Regions.read(str(ending(stem, ".reg")), format="ds9")
    assert len(regions) == len(table)
    if count == 1:
        # DS9 counts pixels from 1, regions from 0.
        np.testing.assert_allclose([each.center.x + 1 for each in regions], table["X_IMAGE"], atol=1e-4)
    else:
        np.testing.assert_allclose([each.center.ra.deg for each in regions], table["ALPHA_J2000"], atol=1e-6)


def test_ldac_has_the_header_of_the_image(written, frame: Frame):
    stem, _ = written
    with fits.open(ending(stem, ".ldac")) as file:
        assert [each.name for each in file[1:3]] == ["LDAC_IMHEAD", "LDAC_OBJECTS"]
        text = "".join(card.ljust(80) for card in file[1].data[0][0])
    header = fits.Header.fromstring(text)
    image = fits.getheader(frame.path)
    for key in ("NAXIS1", "CRVAL1", "CRPIX2", "CTYPE1"):
        assert header[key] == image[key]


def test_the_digest_is_that_of_the_file(written, frame: Frame):
    stem, count = written
    table = Table.read(ending(stem, ".cat.fits"), hdu=1)
    done = subprocess.run(["sha256sum", frame.path], capture_output=True, text=True, check=True)
    assert table.meta["SHA256" if count == 1 else "DIGST1"] == done.stdout.split()[0].lstrip("\\")
