"""What is found of what is there: the bins of signal to noise that the design asks for."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table
from scipy.spatial import cKDTree

from conftest import SHARED, Frame, scan
from test_against_sextractor import extracted

MAKE_SKY = SHARED / "tools/make_sky.py"
# What SExtractor was seen to find with its defaults on frames of this kind, in percent by the least S/N of a bin.
FOUND = {"5": 31.4, "7": 81.6, "10": 96.8, "20": 99.4, "purity": 99.7}


def shares(frame: Frame, table: Table, name: str) -> dict[str, float]:
    """Percent found of the truth, by the least S/N of a bin, and percent of what is found that is true."""
    truth = Table.read(frame.truth, format="ascii.csv")
    found, there = (np.c_[table[x], table[y]] for table, x, y in ((table, "X_IMAGE", "Y_IMAGE"), (truth, "x", "y")))
    distance, _ = cKDTree(found).query(there)
    result = {}
    for low, high in [(5, 7), (7, 10), (10, 20), (20, np.inf)]:
        wanted = (truth["snr"] >= low) & (truth["snr"] < high)
        result[str(low)] = 100 * float(np.mean(distance[wanted] <= 2))
    distance, _ = cKDTree(there[truth["snr"] >= 1.5]).query(found)
    result["purity"] = 100 * float(np.mean(distance <= 2))
    print(f"{frame.stem}, {name}: " + ", ".join(f"{key} {value:.1f}" for key, value in result.items()))
    return result


def check(frame: Frame, folder: Path) -> dict[str, float]:
    theirs = shares(frame, extracted(frame.path, folder), "SExtractor")
    usual = shares(frame, scan(frame, folder), "ours")
    for low, share in theirs.items():
        # A source in five hundred: blends that fall out another way.
        assert usual[low] >= share - 0.2, low
    sensitive = shares(frame, scan(frame, folder, "--preset", "sensitive"), "ours, sensitive")
    assert sensitive["5"] >= 62 and sensitive["purity"] >= 99
    return usual


def test_the_presets_find_what_they_promise(large: Frame, tmp_path: Path):
    usual = check(large, tmp_path)
    for low, share in FOUND.items():
        assert usual[low] >= share, low


def precision(frame: Frame, folder: Path) -> tuple[int, float, float]:
    """Stars above S/N 30 without neighbours: how many, and the error along an axis of plain and windowed positions."""
    ours = scan(frame, folder)
    truth = Table.read(frame.truth, format="ascii.csv")
    stars = truth[(truth["kind"] == "star") & (truth["snr"] > 30)]
    bright = truth[truth["snr"] > 3]
    near = cKDTree(np.c_[bright["x"], bright["y"]]).query_ball_point(np.c_[stars["x"], stars["y"]], 10)
    stars = stars[[len(each) == 1 for each in near]]
    distance, index = cKDTree(np.c_[ours["X_IMAGE"], ours["Y_IMAGE"]]).query(np.c_[stars["x"], stars["y"]])
    found = distance < 1
    rows = ours[index[found]]
    errors = []
    for columns in (("X_IMAGE", "Y_IMAGE"), ("XWIN_IMAGE", "YWIN_IMAGE")):
        offsets = [np.abs(rows[ours] - stars[theirs][found]) for ours, theirs in zip(columns, "xy")]
        # A standard deviation that a few unseen neighbours do not change.
        errors.append(float(1.4826 * np.median(np.concatenate(offsets))))
    print(f"{found.sum()} stars: sigma {errors[0]:.4f} px, windowed {errors[1]:.4f} px")
    return int(found.sum()), *errors


def test_windowed_positions_are_nearly_twice_as_precise(large: Frame, tmp_path: Path):
    stars, plain, windowed = precision(large, tmp_path)
    assert stars > 500 and windowed <= 0.55 * plain


@pytest.mark.skipif(not MAKE_SKY.is_file(), reason="the generator of other frames is not beside the project")
def test_on_frames_that_others_made(tmp_path: Path):
    words = [sys.executable, MAKE_SKY, "--out", tmp_path, "--name", "f4k"]
    subprocess.run(words, check=True, capture_output=True)
    frame = Frame(tmp_path / "f4k_e0.fits", tmp_path / "f4k_e0_truth.csv")
    stars, _, windowed = precision(frame, tmp_path)
    assert stars > 500 and windowed <= 0.025
    check(frame, tmp_path)
