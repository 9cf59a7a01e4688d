"""Processes that are ended by their ids, whatever happens."""

import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Becomes the command that follows, which then gets SIGTERM when this process is killed without a word (prctl(2),
# PR_SET_PDEATHSIG). The kernel means the thread that started it: only the main one may.
WITH_US = ("setpriv", "--pdeathsig", "TERM", "--")


class Failure(Exception):
    """Why something could not be measured."""


def start(arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*WITH_US, *arguments], stdin=subprocess.DEVNULL, **options)


def end(processes: Iterable[subprocess.Popen[bytes]], patience: float = 10) -> None:
    """Asks them to end, and kills those that have not within so many seconds."""
    processes = list(processes)
    for process in processes:
        if process.poll() is None:
            process.terminate()
    limit = time.monotonic() + patience
    for process in processes:
        try:
            process.wait(max(0, limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def lines(arguments: Sequence[str], limit: float, patience: float = 10, is_loud: bool = False) -> Iterator[Any]:
    """The lines a command writes to standard output, as they come.

    limit: seconds after which it is given up; patience: seconds it gets to end; is_loud: standard error goes to ours.
    """
    with tempfile.TemporaryFile() as complaints:
        process = start(arguments, stdout=subprocess.PIPE, stderr=None if is_loud else complaints)
        timer = threading.Timer(limit, process.terminate)
        timer.start()
        try:
            yield process.stdout
            status = process.wait()
            if status:
                complaints.seek(0)
                words = complaints.read().decode(errors="replace").strip().splitlines()
                late = f" (was given {limit:.0f} s)" if timer.finished.is_set() else ""
                command = " ".join([Path(arguments[0]).name, *arguments[1:2]])
                raise Failure(f"{command} ended with {status}{late}: {words[-1] if words else ''}")
        finally:
            timer.cancel()
            end([process], patience)
            process.stdout.close()
