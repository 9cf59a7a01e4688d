"""What has to hold after a round, and after all of them. Each returns what is wrong, in sentences."""

import os
import sqlite3
import time
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from hosts import Hosts

# A node that was lost is dialled again after 15 s at most; a busy machine takes its time.
WHOLE = 90.0
# What a daemon may grow by from its second round on: caches of pixels and of fetched results fill in the first.
GROWTH = 48 << 20
OPEN_FILES = 40
# What a journal may take beyond what the largest took in the first rounds, once its jobs are deleted.
JOURNAL = 24 << 20


@dataclass
class Sample:
    """What a daemon held while there was nothing to do."""

    round: int
    memory: int
    files: int


def whole(hosts: Hosts) -> tuple[float, list[str]]:
    """Waits until every node lists all nodes and none runs a task; returns the seconds that took."""
    began = time.monotonic()
    everybody, missing, view = set(hosts.names), list(hosts.names), ""
    while missing:
        nodes = (hosts.ask(missing[0], "/v1/nodes") or {"nodes": []})["nodes"]
        alive = [node for node in nodes if node["state"] == "alive"]
        there = {node["name"] for node in alive}
        # One that gave no answer in time does not say how many it runs.
        running = {node["name"]: node.get("running", "no answer") for node in alive if node.get("running") != 0}
        if there == everybody and not running:
            missing.pop(0)
            continue
        absent = sorted(everybody - there)
        view = f"{missing[0]} does not see {', '.join(absent)}" if absent else f"{missing[0]} sees tasks run: {running}"
        if time.monotonic() - began > WHOLE:
            return time.monotonic() - began, [f"after {WHOLE:.0f} s {view}"]
        time.sleep(0.2)
    return time.monotonic() - began, []


def jobs(hosts: Hosts, cancelled: Set[str] = frozenset()) -> tuple[int, list[str]]:
    """Every job is done, but for those that were cancelled, and its journal has each of its tasks exactly once. Deletes them; returns
    the number of tasks."""
    tasks, wrong = 0, []
    for host in hosts.names:
        # A node lists nodes also while its own coordinator begins, as after a takeover.
        deadline = time.monotonic() + WHOLE
        while (answer := hosts.ask(host, "/v1/jobs")) is None and time.monotonic() < deadline:
            time.sleep(0.2)
        if answer is None:
            wrong.append(f"{host} does not answer for its jobs")
            continue
        stored = _all_stored(hosts.folder / host)
        for job in answer["jobs"]:
            what = f"job {job['job']} of {host} ({job['what']})"
            if job["job"] in cancelled and job["state"] == "cancelled":
                pass
            elif job["state"] != "done" or job["failed"] or job["completed"] != job["scheduled"]:
                wrong.append(f"{what}: {job['state']}, {job['completed']} of {job['scheduled']}, {job['failed']} failed")
            elif stored.get(job["job"]) != job["scheduled"]:
                wrong.append(f"{what}: its journal has {stored.get(job['job'])} of {job['scheduled']} results")
            tasks += job["completed"]
            if not hosts.delete(host, f"/v1/jobs/{job['job']}"):
                wrong.append(f"{what} cannot be deleted")
    return tasks, wrong


def _all_stored(folder: Path) -> dict[str, int]:
    """The same of a node's own journal and of the copies that it keeps, which become its journals when it takes jobs over."""
    counts: dict[str, int] = {}
    for path in [folder / "journal.sqlite", *folder.glob("copies/*/journal.sqlite")]:
        counts |= _stored(path)
    return counts


def _stored(path: Path) -> dict[str, int]:
    """How many tasks have a result in a journal, by job."""
    tasks_per_job = 1 << 31
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as journal:
        counts = {
            f"{identity & (1 << 64) - 1:016x}": journal.execute(
                "SELECT COUNT(DISTINCT key) FROM result WHERE key >= ? AND key < ?",
                (number * tasks_per_job, (number + 1) * tasks_per_job),
            ).fetchone()[0]
            for number, identity in journal.execute("SELECT number, id FROM job").fetchall()
        }
    journal.close()
    return counts


def processes() -> dict[int, tuple[int, list[str]]]:
    """All processes of skynode in this namespace: parent and words."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            # The name of a process may have spaces; what follows it has none.
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words[0].endswith("skynode"):
            found[int(folder.name)] = (parent, words[1:])
    return found


def stop(hosts: Hosts, patience: float) -> list[str]:
    """Stops all nodes in order and ends the lab. Nothing that belongs to them is left then."""
    hosts.tell("stop " + " ".join(hosts.names))
    deadline = time.monotonic() + patience
    while (left := processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    hosts.end()
    return [f"process {process} is left: {' '.join(words)[:120]}" for process, (_, words) in left.items()]


def orphans(hosts: Hosts, slots: int) -> list[str]:
    """No worker without its daemon, none too many, and no command. Those of a killed daemon may take a moment to go."""
    wrong: list[str] = []
    for _ in range(50):
        wrong = []
        daemons = hosts.daemons()
        names = {process: name for name, process in daemons.items()}
        wrong += [f"the node of {name} has ended: {last_words(hosts, name)}" for name in hosts.names if name not in daemons]
        workers: dict[str, int] = {}
        for process, (parent, words) in processes().items():
            if parent in names:
                workers[names[parent]] = workers.get(names[parent], 0) + 1
            elif process not in names:
                wrong.append(f"process {process} is left: {' '.join(words)[:120]}")
        # One a slot, and those that read pixels and plan.
        wrong += [f"{name} has {count} workers" for name, count in workers.items() if count > 2 * slots + 4]
        if not wrong:
            break
        time.sleep(0.2)
    return wrong


def last_words(hosts: Hosts, name: str) -> str:
    lines = [line for line in hosts.log(name).splitlines() if line.strip()]
    return lines[-1][:200] if lines else "without a word"


def crashes(hosts: Hosts, seen: dict[str, int]) -> list[str]:
    """What the logs say that they are never to say, since the last look."""
    wrong = []
    for name in hosts.names:
        text = hosts.log(name)
        for line in text[seen.get(name, 0) :].splitlines():
            if any(word in line for word in ("Fatal error", "Crash:", "results came twice", "critical skynode")):
                wrong.append(f"{name}: {line[:240]}")
        seen[name] = len(text)
    return wrong


def memory(hosts: Hosts) -> dict[str, int]:
    """How many bytes each daemon holds in memory."""
    held = {}
    for name, process in hosts.daemons().items():
        try:
            held[name] = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        except (FileNotFoundError, ProcessLookupError):
            continue
    return held


def sample(hosts: Hosts, number: int, samples: dict[tuple[str, int], list[Sample]]) -> None:
    """Notes what each daemon holds."""
    held = memory(hosts)
    for name, process in hosts.daemons().items():
        try:
            files = len(os.listdir(f"/proc/{process}/fd"))
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name in held:
            samples.setdefault((name, process), []).append(Sample(number, held[name], files))


def growth(samples: dict[tuple[str, int], list[Sample]]) -> tuple[int, list[str]]:
    """The most that a daemon has grown by after its second round, of those that lived long enough to tell."""
    most, wrong = 0, []
    for (name, process), rounds in samples.items():
        if len(rounds) < 3:
            continue
        first, last = rounds[1], rounds[-1]
        most = max(most, last.memory - first.memory)
        span = f"{name} ({process}), rounds {first.round} to {last.round}"
        if last.memory - first.memory > GROWTH:
            wrong.append(f"{span}: memory went from {first.memory >> 20} to {last.memory >> 20} MiB")
        if last.files - first.files > OPEN_FILES:
            wrong.append(f"{span}: open files went from {first.files} to {last.files}")
    return most, wrong


def journals(hosts: Hosts) -> int:
    """The largest journal with what lies beside it, without the room that is kept free and what fills the disk."""
    return max(
        sum(path.stat().st_size for path in (hosts.folder / name).glob("journal.sqlite*")) for name in hosts.names
    )
