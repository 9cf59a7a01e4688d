"""The same catalogue, byte for byte, for every size of sectors and any number of nodes: each real frame beside the project, and the
pairs that can be compared, with every way of scanning that looks at all of an image before it looks at a part.

Only the column SECTOR says how an image was cut.
"""

import contextlib
import csv
import hashlib
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PROGRAM, SHARED, real_frames

# How many nodes, and the pixels of a sector's side.
CUTS = ((1, "full"), (1, 128), (2, 320), (5, 128), (5, 512), (2, 1024))
WAYS = {"sensitive": ["--preset", "sensitive"], "seeing": ["--filter", "seeing"]}
# New image, reference.
PAIRS = (
    ("jw02561001002-02561-o001_t003_f200w.fits.gz", "jw01324001001-01324-o001_t001_f200w.fits.gz"),
    ("jw01324001001-01324-o001_t001_f200w.fits.gz", "jw02561001002-02561-o001_t003_f200w.fits.gz"),
    ("obs_test_raw_v1_fg.fits.gz", "obs_test_raw_v2_fg.fits.gz"),
    ("ntf_m13real.fits", "ntf_m13_rice.fits"),
)


@contextlib.contextmanager
def cluster(count: int, folder: Path) -> Iterator[str]:
    """Nodes of a group of their own on this machine; the address of the first."""
    port = random.randrange(20_000, 30_000)
    nodes = []
    try:
        for number in range(count):
            words = [PROGRAM, "serve", "--name", f"node{number}", "--listen", "127.0.0.1:0", "--slots", "2", "--http", "none"]
            words += ["--multicast", f"239.255.77.{random.randrange(1, 255)}:{port}" if not number else group]
            words += ["--interface", "lo", "--data", folder / f"node{number}", "--cache-size", "0"]
            group = words[words.index("--multicast") + 1]
            nodes.append(subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        addresses = [node.stdout.readline().split()[-1] for node in nodes]
        watch = subprocess.Popen(
            [PROGRAM, "nodes", "--watch", "--node", addresses[0], "--format", "json"], stdout=subprocess.PIPE, text=True
        )
        try:
            known = 0
            while known < count:
                line = watch.stdout.readline()
                assert line, "the nodes did not find each other"
                known += '"event":"present"' in line or '"event":"joined"' in line
        finally:
            watch.kill()
            watch.communicate()
        yield addresses[0]
    finally:
        for node in nodes:
            node.kill()
        for node in nodes:
            node.communicate()


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, str]]:
    with contextlib.ExitStack() as stack:
        yield {
            count: stack.enter_context(cluster(count, tmp_path_factory.mktemp(f"nodes{count}")))
            for count in sorted({count for count, _ in CUTS})
        }


def digests(folder: Path) -> dict[str, str]:
    """Of each table that was written, less the column that tells of the sectors."""
    result = {}
    for path in sorted(folder.glob("*.csv")):
        digest = hashlib.sha256()
        with path.open(newline="") as file:
            rows = csv.reader(line for line in file if not line.startswith("#"))
            heading = next(rows, [])
            kept = [index for index, name in enumerate(heading) if name != "SECTOR"]
            for row in [heading, *rows]:
                digest.update(repr([row[index] for index in kept]).encode())
        result[path.name] = digest.hexdigest()
    return result


def scanned(arguments: list[object], clusters: dict[int, str], folder: Path) -> list[tuple[int, str, dict[str, str]]]:
    """Status, last words and digests for each cut."""
    results = []
    for nodes, side in CUTS:
        output = folder / f"{nodes}-{side}"
        words = [PROGRAM, "scan", *arguments, "-o", output, "--sector", side, "--node", clusters[nodes], "--no-picture", "--no-cache"]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900)
        output.mkdir(exist_ok=True)
        # What is wrong with a file is said alike, too.
        words = done.stderr.splitlines()[-1].replace(str(output), "") if done.returncode else ""
        results.append((done.returncode, words, digests(output)))
    return results


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", real_frames(), ids=lambda path: path.name)
def test_every_cut_gives_the_same_catalogue(path: Path, way: str, clusters: dict[int, str], tmp_path: Path):
    results = scanned([path, *WAYS[way]], clusters, tmp_path)
    print(f"{path.name} {way}: exit {results[0][0]} {results[0][1]}, {len(results[0][2])} tables")
    assert all(result == results[0] for result in results), dict(zip(CUTS, results, strict=True))
    assert results[0][2] or results[0][0]


@pytest.mark.parametrize("new,reference", PAIRS)
def test_every_cut_gives_the_same_comparison(new: str, reference: str, clusters: dict[int, str], tmp_path: Path):
    if not (SHARED / new).exists():
        pytest.skip(f"{SHARED / new} is not here")
    results = scanned([SHARED / new, "--reference", SHARED / reference], clusters, tmp_path)
    print(f"{new} against {reference}: exit {results[0][0]} {results[0][1]}, {len(results[0][2])} tables")
    assert all(result == results[0] for result in results), dict(zip(CUTS, results, strict=True))
    assert results[0][2] or results[0][0]
