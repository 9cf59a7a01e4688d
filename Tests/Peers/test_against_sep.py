"""The sources of a whole-frame run of SEP in Python, whatever the sectors and the slots."""

from pathlib import Path

import numpy as np
import pytest
import sep
from astropy.io import fits
from astropy.table import Table

from conftest import Frame, pairs, scan, skynode


def extracted(image: Path) -> Table:
    pixels = fits.getdata(image).astype(np.float32)
    mask = ~np.isfinite(pixels)
    background = sep.Background(pixels, mask=mask, bw=64, bh=64, fw=3, fh=3)
    clean = np.where(mask, 0, pixels - background.back()).astype(np.float32)
    sep.set_extract_pixstack(3_000_000)
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], dtype=np.float32)
    found = sep.extract(
        clean, 1.5, err=background.globalrms, minarea=5, filter_kernel=kernel, filter_type="conv", clean=False
    )
    table = Table(found)
    table["X_IMAGE"], table["Y_IMAGE"] = found["x"] + 1, found["y"] + 1
    return table


@pytest.mark.parametrize("name", ["frame", "dense"])
def test_whole_frame(name: str, request: pytest.FixtureRequest, tmp_path: Path):
    image: Frame = request.getfixturevalue(name)
    # SEP cleans otherwise than SExtractor, all at once: test_against_sextractor.py compares what is cleaned.
    whole, ours = extracted(image.path), scan(image, tmp_path, "--clean", "off")
    one, two = pairs(whole, ours, 1)
    print(f"{name}: SEP {len(whole)}, ours {len(ours)}, of both {len(one)}")
    assert len(one) >= 0.998 * max(len(whole), len(ours))
    one, two = whole[one], ours[two]
    alone = ((np.asarray(one["flag"]) & sep.OBJ_MERGED) == 0) & ((np.asarray(two["FLAGS"]) & 2) == 0)
    assert np.mean(alone) > 0.5
    for mine, theirs, error in [
        ("X_IMAGE", "X_IMAGE", 1e-5),
        ("Y_IMAGE", "Y_IMAGE", 1e-5),
        ("A_IMAGE", "a", 1e-5),
        ("B_IMAGE", "b", 1e-5),
        ("FLUX_ISO", "flux", 1e-2),
    ]:
        difference = np.abs(np.asarray(two[mine], float) - np.asarray(one[theirs], float))[alone]
        print(f"{mine}: largest difference of what is no blend {difference.max():.2e}")
        assert difference.max() <= error, mine


def test_no_source_is_lost_or_doubled_at_seams(dense: Frame, tmp_path: Path):
    catalogues = []
    for sector in ("full", 1024, 512, 256):
        table = scan(dense, tmp_path, "--sector", sector)
        catalogues.append(table)
        tree = np.c_[table["X_IMAGE"], table["Y_IMAGE"]]
        order = np.argsort(tree[:, 1])
        gap = np.diff(tree[order], axis=0)
        assert not np.any(np.hypot(gap[:, 0], gap[:, 1]) < 0.5), sector
    for table in catalogues[1:]:
        assert len(table) == len(catalogues[0])
        for column in table.colnames:
            if column != "SECTOR":
                np.testing.assert_array_equal(table[column], catalogues[0][column], err_msg=column)


@pytest.mark.parametrize("preset", ["sextractor", "sensitive"])
def test_catalogues_do_not_depend_on_the_slots(preset: str, frame: Frame, tmp_path: Path):
    catalogues = []
    for slots in (1, 2, 5):
        path = tmp_path / f"{slots}.csv"
        skynode("scan", frame.path, "--output", path, "--preset", preset, "--slots", slots)
        catalogues.append(path.read_bytes())
    assert catalogues[0] == catalogues[1] == catalogues[2]
