"""The work of a round: a simulated job and scans, given to nodes by commands on any host, and what has to come of them.

A command waits for a node that it loses (`--reconnect-for`). One that was killed with its host leaves its job running; that
is followed by its token, or its results are fetched with `skynode jobs results`."""

import json
import os
import subprocess
import time
from pathlib import Path

from hosts import PORT, Hosts, kill

# Longer than any fault lasts, and than a busy machine takes to start a node.
PATIENCE = "300s"
CATALOGUES = "csv,fits,reg,ndjson"
SECTOR = 128
FAILED = 1
NO_CLUSTER = 3


def synthesize(program: Path, frame: Path, side: int, seed: int, stars: int | None = None) -> None:
    size = ["--width", str(side), "--height", str(side)] + (["--stars", str(stars)] if stars else [])
    subprocess.run([program, "synthesize", frame, *size, "--seed", str(seed)], check=True, capture_output=True)


def scan_undisturbed(program: Path, frames: list[Path], folder: Path) -> None:
    """Writes what a node that nothing happens to finds in the frames."""
    subprocess.run(
        [program, "scan", *frames, "--slots", "2", "--no-multicast", "--sector", str(SECTOR), "--no-picture"]
        + ["--format-catalogue", CATALOGUES, "-o", folder],
        check=True, capture_output=True, env={**os.environ, "SKYNODE_CLUSTER_KEY": ""},
    )  # fmt: skip


class Piece:
    """One command of a round, from its start until what it was to do is there and right."""

    def __init__(self, hosts: Hosts, folder: Path, name: str, host: str, coordinator: str) -> None:
        self.hosts, self.folder, self.name, self.host, self.coordinator = hosts, folder, name, host, coordinator
        self.process: subprocess.Popen | None = None
        self.starts = 0
        # A coordinator that is started again tells what happens from then on: what it had stored and not yet told is counted in the
        # job, and told nobody as an event.
        self.coordinator_dies = False
        self.was_killed = False
        # Whether a command that ends with anything but 0 is a finding, whatever the reason.
        self.is_impatient = False
        self.is_done = False
        self.problem: str | None = None
        self.job: str | None = None
        # The next look comes no earlier, because a node that was not there must not be asked all the time.
        self.next_look = 0.0

    def words(self) -> list[str]:
        raise NotImplementedError

    def output(self) -> Path:
        return self.folder / f"{self.name}.{self.starts}.out"

    def run(self, *words: str) -> None:
        self.starts += 1
        node = f"{self.hosts.address(self.coordinator)}:{PORT}"
        self.process = self.hosts.start(self.host, *words, "--node", node, "--no-multicast", output=self.output())

    def power_cut(self) -> None:
        """The command dies with its host, wherever it stands."""
        process = self.process
        if process and process.poll() is None:
            # First, because this is another thread than the one that looks.
            self.was_killed = True
            kill(process.pid)

    def fail(self, problem: str) -> None:
        self.problem = f"{self.name} by {self.host} on {self.coordinator}: {problem}"
        self.is_done = True

    def look(self) -> None:
        """Goes on where there is something to do; never waits."""
        if self.is_done or time.monotonic() < self.next_look:
            return
        if self.process is None:
            self.step()
            return
        status = self.process.poll()
        if status is None:
            return
        self.process = None
        if self.was_killed:
            self.was_killed = False
            self.killed()
        elif status == 0:
            self.ended()
        elif self.is_refused(status):
            self.next_look = time.monotonic() + 0.5
        else:
            self.fail(f"exit code {status}: {self.last_error()}")

    def is_refused(self, status: int) -> bool:
        """Whether nothing was begun, and it is to be tried again: the node was gone already, or its disk was full."""
        if self.is_impatient:
            return False
        if status == NO_CLUSTER:
            return not self.output().stat().st_size
        return status == FAILED and "no room on the disk" in self.last_error()

    def told(self) -> list[str]:
        """The tasks that a command with `--format json` has said to be done."""
        lines = self.output().read_text().splitlines(keepends=True) if self.output().exists() else []
        # The last line may still be on its way.
        events = [json.loads(line) for line in lines if line.endswith("\n")]
        return [f"{event.get('subject', '')} {event['task']}" for event in events if event["event"] == "completed"]

    def last_error(self) -> str:
        errors = self.output().with_suffix(".err").read_text(errors="replace").strip().splitlines()
        return errors[-1] if errors else "without a word"

    def step(self) -> None:
        """Nothing runs: what is next?"""
        self.run(*self.words())

    def killed(self) -> None:
        """Its command was killed; the same again, unless it knows better."""

    def ended(self) -> None:
        raise NotImplementedError

    def compare(self, expected: Path, results: Path) -> None:
        """Fails where what was written is not to the byte what was to be."""
        for path in sorted(expected.iterdir()):
            made = results / path.name
            if not made.exists():
                self.fail(f"{made.name} was not written")
            elif made.read_bytes() != path.read_bytes():
                self.fail(f"{made} differs from {path}")

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            kill(self.process.pid)
            self.process.wait()


class Simulation(Piece):
    """A job of many short tasks. Its token finds it again."""

    def __init__(self, hosts: Hosts, folder: Path, host: str, coordinator: str, tasks: int, milliseconds: int) -> None:
        super().__init__(hosts, folder, "simulate", host, coordinator)
        self.tasks, self.milliseconds = tasks, milliseconds
        self.token = f"chaos {folder.name}"

    def words(self) -> list[str]:
        return [
            "simulate", "--tasks", str(self.tasks), "--duration", f"{self.milliseconds}ms", "--token", self.token,
            "--format", "json", "--reconnect-for", PATIENCE,
        ]  # fmt: skip

    def ended(self) -> None:
        events = [json.loads(line) for line in self.output().read_text().splitlines()]
        done = [event["task"] for event in events if event["event"] == "completed"]
        last = events[-1] if events else {}
        if len(set(done)) != len(done):
            self.fail(f"{len(done) - len(set(done))} tasks were told twice")
        elif len(done) != self.tasks and not self.coordinator_dies:
            self.fail(f"{len(done)} of {self.tasks} tasks were told")
        elif (last.get("event"), last.get("completed"), last.get("failed")) != ("ended", self.tasks, 0):
            self.fail(f"the end is {last}")
        elif sum(last["nodes"].values()) != self.tasks:
            self.fail(f"the nodes did {last['nodes']}")
        self.is_done = True


class Scans(Piece):
    """A scan of several images by one command, whose catalogues are known to the byte."""

    def __init__(self, hosts: Hosts, folder: Path, host: str, coordinator: str, images: list[Path], expected: Path) -> None:
        super().__init__(hosts, folder, "scans", host, coordinator)
        self.images, self.expected = images, expected
        self.results = folder / "catalogues"

    def words(self) -> list[str]:
        return [
            "scan", *map(str, self.images), "--sector", str(SECTOR), "--no-picture", "--no-cache", "--format", "json",
            "--reconnect-for", PATIENCE, "--format-catalogue", CATALOGUES, "-o", str(self.results),
        ]  # fmt: skip

    def ended(self) -> None:
        told = self.told()
        if len(set(told)) != len(told):
            self.fail(f"{len(told) - len(set(told))} tasks were told twice")
        self.compare(self.expected, self.results)
        self.is_done = True


class Scan(Piece):
    """A scan of one image, whose catalogues are known to the byte."""

    def __init__(
        self, hosts: Hosts, folder: Path, name: str, host: str, coordinator: str, image: Path, expected: Path,
        is_detached: bool, uses_cache: bool,
    ) -> None:  # fmt: skip
        super().__init__(hosts, folder, name, host, coordinator)
        self.image, self.expected, self.is_detached, self.uses_cache = image, expected, is_detached, uses_cache
        self.results = folder / name
        # Whether a command has perhaps given the job to the node, and whether its results are being fetched.
        self.was_given = False
        self.is_fetching = False
        self.absent = 0

    def words(self) -> list[str]:
        words = ["scan", str(self.image), "--sector", str(SECTOR), "--no-picture", "--reconnect-for", PATIENCE]
        words += [] if self.uses_cache else ["--no-cache"]
        return words + (["--detach"] if self.is_detached else ["--format-catalogue", CATALOGUES, "-o", str(self.results)])

    def killed(self) -> None:
        self.was_given = True
        self.is_fetching = False

    def step(self) -> None:
        if not self.was_given:
            super().step()
            return
        # As a person would: which job is it, and has it ended?
        self.next_look = time.monotonic() + 0.3
        if self.job:
            # Another node may have taken it over, and the list of jobs is a node's own.
            status, job = self.hosts.answer(self.coordinator, f"/v1/jobs/{self.job}")
            if status == 404:
                return self.fail(f"job {self.job} is gone")
            if status != 200:
                return
        else:
            answer = self.hosts.ask(self.coordinator, "/v1/jobs")
            if answer is None:
                return
            job = next((job for job in answer["jobs"] if job["what"] == str(self.image)), None)
        if job is None:
            # The command may have died before it gave the job; the node answers, so it is not there.
            self.absent += 1
            if self.absent > 3:
                self.was_given, self.absent = False, 0
        elif job["state"] == "done":
            self.is_fetching = True
            self.run("jobs", "results", job["job"], "--format-catalogue", CATALOGUES, "-o", str(self.results))
        elif job["state"] not in ("running", "paused"):
            self.fail(f"job {job['job']} is {job['state']}")

    def ended(self) -> None:
        if self.is_detached and not self.is_fetching:
            self.job = self.output().read_text().strip()
            self.was_given = True
            return
        self.compare(self.expected, self.results)
        self.is_done = True


def stop(work: list[Piece], overdue: str) -> list[str]:
    """Ends what goes on still, and returns what was wrong with the work."""
    for piece in work:
        if not piece.is_done:
            piece.fail(overdue)
        piece.stop()
    return [piece.problem for piece in work if piece.problem]
