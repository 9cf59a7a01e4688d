"""How long a node takes to start with a large journal, and what the service manager hears meanwhile.

    make start-benchmark [OPTIONS="--megabytes 1000 --side 2048 --check"]

A scan of a dense synthetic frame is done once. Then its rows are copied under other numbers until the journal has so many
megabytes, the scan's last results taken away: each copy is a job that goes on, and has to be read before the node can say what
is left of it. Told are the time to READY, the longest silence before it (systemd ends a start after TimeoutStartSec of silence,
60 s in the package), what was said, and the largest resident set. The same again with every job ended, of which nothing has to
be read. What the disk's cache held is let go before.
"""

import argparse
import contextlib
import os
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sizing  # noqa: E402

TASKS_OF_JOB = 1 << 31
# As the package's unit has it.
START_LIMIT = 60


def checksum(*parts: object) -> int:
    """As RowChecksum."""
    value = 0
    for part in parts:
        if part is None:
            part = -1
        elif isinstance(part, str):
            part = part.encode()
        if isinstance(part, bytes):
            value = zlib.crc32(struct.pack("<q", len(part)), value)
            value = zlib.crc32(part, value)
        else:
            value = zlib.crc32(struct.pack("<q", part), value)
    return value


def grow(journal: Path, megabytes: int) -> int:
    """Copies the only job until the file has so many, each with its last two results taken away. Returns how many there are."""
    database = sqlite3.connect(journal, isolation_level=None)
    database.execute("PRAGMA synchronous=OFF")
    (request, program) = database.execute("SELECT request, program FROM job").fetchone()
    rows = database.execute("SELECT key, node, duration, payload FROM result ORDER BY key").fetchall()[:-2]
    number = database.execute("SELECT number FROM job").fetchone()[0]
    copies = max(1, megabytes * 1_000_000 // sum(len(payload) for _, _, _, payload in rows))
    database.execute("BEGIN")
    for copy in range(number + 1, number + 1 + copies):
        database.execute(
            "INSERT INTO job(number, id, token, request, submitted, program, submittedRun, checksum) VALUES (?,?,NULL,?,?,?,0,?)",
            (copy, copy, request, int(time.time() * 1000), program, checksum(copy, None, request)))
        database.executemany(
            "INSERT INTO result(key, node, duration, payload, checksum) VALUES (?,?,?,?,?)",
            ((key % TASKS_OF_JOB + copy * TASKS_OF_JOB, node, duration, payload,
              checksum(key % TASKS_OF_JOB + copy * TASKS_OF_JOB, node, duration, payload))
             for key, node, duration, payload in rows))
    database.execute("COMMIT")
    database.close()
    return copies


def end_all(journal: Path) -> None:
    database = sqlite3.connect(journal, isolation_level=None)
    (report,) = database.execute("SELECT report FROM job WHERE report IS NOT NULL").fetchone()
    ended = int(time.time() * 1000)
    for (identifier,) in database.execute("SELECT id FROM job WHERE report IS NULL").fetchall():
        database.execute(
            "UPDATE job SET report=?, ended=?, endedRun=0, reportChecksum=? WHERE id=?",
            (report, ended, checksum(identifier, report), identifier))
    database.close()


def start(data: Path, socket_path: Path) -> tuple[float, float, list[str], float]:
    """Starts the node as systemd would. Returns seconds to READY, the longest silence, what was said, and MB of memory."""
    os.sync()
    with contextlib.suppress(OSError):
        Path("/proc/sys/vm/drop_caches").write_text("3")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    socket_path.unlink(missing_ok=True)
    manager.bind(str(socket_path))
    manager.settimeout(START_LIMIT)
    began = heard = time.monotonic()
    process = subprocess.Popen(
        [sizing.PROGRAM, "serve", "--listen", "127.0.0.1:0", "--no-multicast", "--slots", "2", "--data", data, "--http", "none"],
        env={**os.environ, "NOTIFY_SOCKET": str(socket_path)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said: list[str] = []
    silence = 0.0
    try:
        while "READY=1" not in said:
            try:
                lines = manager.recv(4096).decode().splitlines()
            except TimeoutError:
                sys.exit(f"start: nothing was heard for {START_LIMIT} s; the last was {said[-1:]}")
            now = time.monotonic()
            silence, heard = max(silence, now - heard), now
            said += lines
        return heard - began, silence, said, sizing.peak(process.pid, "VmHWM")
    finally:
        process.kill()
        process.wait()
        manager.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=5000, help="of results in the journal")
    parser.add_argument("--side", type=int, default=4096, help="of the frame, in pixels")
    parser.add_argument("--folder", type=Path, help="where the journal is made, on the disk that is asked about")
    parser.add_argument("--check", action="store_true", help="fail where systemd would have given up, or READY takes over 3 s with ended jobs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        folder = Path(scratch)
        frame = folder / "frame.fits"
        stars = sizing.STARS["dense"] * options.side * options.side // 1_000_000
        subprocess.run(
            [sizing.PROGRAM, "synthesize", frame, "--width", str(options.side), "--height", str(options.side), "--stars", str(stars),
             "--seed", "3", "--bitpix", "16"], check=True, capture_output=True)
        with sizing.node(folder / "node") as node:
            node.run("scan", frame, "-o", folder / "out", "--no-picture")
            node.stop()
        # The jobs that go on cannot be done: what is measured is the start.
        frame.unlink()
        shutil.rmtree(folder / "out")
        data = folder / "node/data"
        [journal] = data.rglob("*.sqlite")
        copies = grow(journal, options.megabytes)
        size = journal.stat().st_size / 1e9
        print("| journal | jobs | READY after | longest silence | resident | said |")
        print("|---|---|---|---|---|---|")
        for words in ("go on", "have ended"):
            if words == "have ended":
                end_all(journal)
            ready, silence, said, memory = start(data, folder / "notify")
            statuses = [line.removeprefix("STATUS=") for line in said if line.startswith("STATUS=")]
            shown = f"{len(statuses)} lines, as “{statuses[len(statuses) // 2]}”" if statuses else "READY"
            print(f"| {size:.1f} GB | {copies} that {words} | {ready:.1f} s | {silence:.1f} s | {memory:.0f} MB | {shown} |", flush=True)
            if options.check and (silence > START_LIMIT / 2 or (words == "have ended" and ready > 3)):
                sys.exit("start: too slow")


if __name__ == "__main__":
    main()
