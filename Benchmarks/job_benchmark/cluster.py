"""SkyNet nodes as processes of this machine, and what is asked of them."""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import processes
from .processes import Failure

SLOTS = 4
# Within which all nodes have to list all.
START_SECONDS = 60
# No job here takes this long where anything works.
JOB_SECONDS = 900


class Cluster:
    """So many nodes; the first coordinates all jobs."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = str(program)
        self.folder = folder
        self.nodes: list[subprocess.Popen[bytes]] = []
        self.addresses: list[str] = []

    def start(self, count: int) -> None:
        limit = time.monotonic() + START_SECONDS
        self._start_node()
        self.addresses = [self._address(1, limit)]
        while len(self.nodes) < count:
            self._start_node("--join", self.addresses[0])
        self.addresses += [self._address(number, limit) for number in range(2, count + 1)]
        for number, address in enumerate(self.addresses, 1):
            while (listed := self._listed_by(address)) != count:
                self._check()
                if time.monotonic() > limit:
                    raise Failure(f"after {START_SECONDS} s n{number} lists {listed} of {count} nodes")
                time.sleep(0.1)

    def _start_node(self, *arguments: str) -> None:
        name = f"n{len(self.nodes) + 1}"
        with (self.folder / f"{name}.out").open("wb") as output, (self.folder / f"{name}.log").open("wb") as log:
            command = [self.program, "serve", "--name", name, "--listen", "127.0.0.1:0", "--slots", str(SLOTS)]
            command += ["--no-multicast", "--data", str(self.folder / name), *arguments]
            self.nodes.append(processes.start(command, stdout=output, stderr=log))

    def _address(self, number: int, limit: float) -> str:
        while time.monotonic() < limit:
            words = (self.folder / f"n{number}.out").read_text(encoding="utf-8").split()
            if len(words) >= 5:  # skynode NAME listening on HOST:PORT
                return words[4]
            self._check()
            time.sleep(0.02)
        raise Failure(f"n{number} does not listen within {START_SECONDS} s")

    def _check(self) -> None:
        for number, node in enumerate(self.nodes, 1):
            if node.poll() is not None:
                log = (self.folder / f"n{number}.log").read_text(encoding="utf-8", errors="replace").splitlines()
                raise Failure(f"n{number} has ended with {node.returncode}: {log[-1] if log else 'without a word'}")

    def _ask(self, *arguments: str, heard: Callable[[bytes], None] | None = None, limit: float = 60) -> bytes:
        """The last line a command says; heard is told each."""
        last = b""
        with processes.lines([self.program, *arguments], limit) as lines:
            for last in lines:
                if heard:
                    heard(last)
        return last

    def _listed_by(self, address: str) -> int:
        count = 0

        def heard(_: bytes) -> None:
            nonlocal count
            count += 1

        self._ask("nodes", "--node", address, "--format", "json", heard=heard)
        return count

    def simulate(
        self,
        tasks: int,
        task_seconds: float,
        *,
        heard: Callable[[bytes], None] | None = None,
        is_quiet: bool = False,
    ) -> dict[str, Any]:
        """Has a job done. `seconds` is what the coordinator says: from the submission until the last result is stored;
        `wall_seconds` the whole command as a shell sees it.

        heard: is told every line; is_quiet: the command hears every event but writes no line about it.
        """
        command = ["simulate", "--node", self.addresses[0], "--tasks", str(tasks)]
        command += ["--duration", f"{task_seconds * 1000:g}ms", "--format", "text" if is_quiet else "json"]
        began = time.monotonic()
        line = self._ask(*command, heard=heard, limit=JOB_SECONDS)
        wall = time.monotonic() - began
        if is_quiet:
            line = self._ask("jobs", "list", "--node", self.addresses[0], "--format", "json")
        end = parsed(line)
        if end.get("state") != "done" or end.get("completed") != tasks:
            raise Failure(f"a job of {tasks} tasks ended so: {line.decode(errors='replace').strip()}")
        return {
            "tasks": tasks,
            "task_seconds": task_seconds,
            "seconds": round(end["seconds"], 4),
            "wall_seconds": round(wall, 4),
            "per_second": round(tasks / end["seconds"], 1),
        }

    def repeat(self, jobs: int) -> dict[str, Any]:
        """Has jobs of one empty task done, one after the other over one link. Times in seconds, from the submission
        until the command has heard that the result is stored."""
        line = self._ask(
            *("simulate", "--node", self.addresses[0], "--tasks", "1", "--duration", "0s"),
            *("--repeat", str(jobs), "--format", "json"),
            limit=JOB_SECONDS,
        )
        end = parsed(line)
        if end.get("event") != "repeated" or end.get("jobs") != jobs:
            raise Failure(f"{jobs} jobs ended so: {line.decode(errors='replace').strip()}")
        return end

    def memory(self) -> dict[str, int]:
        """Bytes of the coordinator's process: resident now, and at most so far."""
        try:
            status = Path(f"/proc/{self.nodes[0].pid}/status").read_text(encoding="utf-8")
            fields = {line.partition(":")[0]: line.split() for line in status.splitlines()}
            return {"resident": int(fields["VmRSS"][1]) * 1024, "peak": int(fields["VmHWM"][1]) * 1024}
        except (OSError, KeyError) as error:
            raise Failure(f"the coordinator has ended: {error}") from error


def parsed(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Failure(f"not what a program should read: {line.decode(errors='replace').strip()!r}")
    return value


@contextmanager
def running(program: Path, count: int) -> Iterator[Cluster]:
    # Not /tmp, which is in memory on some systems: nothing would be stored.
    folder = Path(tempfile.mkdtemp(prefix="skynet-jobs-", dir="/var/tmp"))
    cluster = Cluster(program, folder)
    try:
        cluster.start(count)
        yield cluster
    finally:
        processes.end(cluster.nodes)
        shutil.rmtree(folder, ignore_errors=True)
