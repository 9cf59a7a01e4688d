"""What is measured of SkyNet, a record a figure."""

import bisect
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .cluster import SLOTS, Cluster, Failure, parsed, running

Record = dict[str, Any]
# As many as the peers have.
NODES = 2


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    # SkyNet and the peers take turns, since the machine is fast and slow by turns; ratios are judged round by round.
    rounds: int
    empty: int
    single: int
    # How often a job of one-second tasks is done.
    repeats: int
    second_tasks: int
    # Seconds a throughput with tasks of a given length should take, of the peers too.
    length_seconds: int
    lengths: tuple[float, ...]
    speed_nodes: tuple[int, ...]
    tasks_per_slot: int
    many_nodes: int
    many_tasks: int
    rest_seconds: int
    long_tasks: int
    long_jobs: int
    # Flags of the peers in the first round, which has every figure, and in the others.
    peers_first: tuple[str, ...]
    peers_later: tuple[str, ...]


FULL = Sizes(
    rounds=3,
    empty=200_000,
    single=2_000,
    repeats=3,
    second_tasks=80,
    length_seconds=8,
    lengths=(0, 0.001, 0.01, 0.1),
    speed_nodes=(1, 2, 4, 8),
    tasks_per_slot=40,
    many_nodes=100,
    many_tasks=2_000,
    rest_seconds=20,
    long_tasks=1_000_000,
    # A tenth of one takes 2.5 s, of which this machine makes 2 to 4: all first tenths are compared with all last ones.
    long_jobs=5,
    peers_first=(),
    peers_later=("--single", "1", "--seconds-tasks", "1"),
)
QUICK = Sizes(
    rounds=1,
    empty=5_000,
    single=50,
    repeats=1,
    second_tasks=8,
    length_seconds=1,
    lengths=(0, 0.01),
    speed_nodes=(1, 2),
    tasks_per_slot=5,
    many_nodes=5,
    many_tasks=20,
    rest_seconds=0,
    long_tasks=20_000,
    long_jobs=1,
    peers_first=("--tasks", "200", "--single", "5", "--seconds-tasks", "8"),
    peers_later=(),
)


def record(figure: str, **values: Any) -> Record:
    return {"figure": figure, "system": "skynet", **values}


def warm_up(cluster: Cluster) -> None:
    cluster.simulate(2_000, 0)


def round_(program: Path, sizes: Sizes, number: int) -> Iterator[Record]:
    """Empty tasks; in the first round whatever else the peers are compared by."""
    with running(program, NODES) as cluster:
        warm_up(cluster)
        empty = cluster.simulate(sizes.empty, 0)
        yield record("throughput", round=number, **empty)
        yield record("throughput_quiet", round=number, **cluster.simulate(sizes.empty, 0, is_quiet=True))
        if number > 1:
            return
        for length in sizes.lengths:
            if length:
                # As if nothing were handed out while tasks sleep, like the peers': the time is an upper estimate.
                tasks = int(sizes.length_seconds / (1 / empty["per_second"] + length / SLOTS / NODES))
                yield record("throughput", round=number, **cluster.simulate(max(SLOTS * NODES, tasks), length))
        for _ in range(sizes.repeats):
            yield record("makespan", round=number, nodes=NODES, **cluster.simulate(sizes.second_tasks, 1))
        end = cluster.repeat(sizes.single)
        yield record(
            "latency",
            round=number,
            tasks=sizes.single,
            p50_ms=round(end["p50"] * 1000, 3),
            p99_ms=round(end["p99"] * 1000, 3),
        )


def speed_up(program: Path, sizes: Sizes) -> Iterator[Record]:
    """The same work for each slot on more and more nodes: without losses it takes the same time."""
    for count in sizes.speed_nodes:
        with running(program, count) as cluster:
            warm_up(cluster)
            yield record("speed_up", nodes=count, **cluster.simulate(sizes.tasks_per_slot * SLOTS * count, 0.1))


def many_nodes(program: Path, sizes: Sizes) -> Iterator[Record]:
    began = time.monotonic()
    with running(program, sizes.many_nodes) as cluster:
        settled = time.monotonic() - began
        # Handshakes are done, and the clocks of pings and beacons have drifted apart.
        time.sleep(sizes.rest_seconds)
        for _ in range(sizes.repeats):
            figures = cluster.simulate(sizes.many_tasks, 1)
            yield record("many_nodes", nodes=sizes.many_nodes, settled_seconds=round(settled, 1), **figures)


def long_job(program: Path, sizes: Sizes) -> Iterator[Record]:
    """Jobs of very many empty tasks: memory of their coordinator, and whether the last tasks take longer."""
    for _ in range(sizes.long_jobs):
        yield one_long_job(program, sizes)


def one_long_job(program: Path, sizes: Sizes) -> Record:
    with running(program, NODES) as cluster:
        progress = Progress()
        with MemorySamples(cluster) as samples:
            figures = cluster.simulate(sizes.long_tasks, 0, heard=progress.hear)
        tenth = sizes.long_tasks // 10
        first = progress.time(tenth) - progress.time(0)
        last = progress.time(sizes.long_tasks) - progress.time(sizes.long_tasks - tenth)
        return record(
            "long_job",
            **figures,
            events=progress.heard,
            idle_bytes=samples.idle,
            peak_bytes=cluster.memory()["peak"],
            **{
                f"resident_{percent}_bytes": samples.at(
                    progress.began + progress.time(sizes.long_tasks * percent // 100)
                )
                for percent in (25, 50, 100)
            },
            window_tasks=tenth,
            first_microseconds=round(first / tenth * 1e6, 2),
            last_microseconds=round(last / tenth * 1e6, 2),
            last_to_first=round(last / first, 4),
        )


class Progress:
    """How many tasks were done when, out of the job's events. Each carries the coordinator's time; one in a hundred is
    enough. Events that the command was too slow for are missing; their times lie between those of their neighbours."""

    def __init__(self) -> None:
        self.heard = 0
        # When the job was submitted, by this process's monotonic clock; late by what the first events took to come.
        self.began = 0.0
        self.numbers: list[int] = []
        self.times: list[float] = []

    def hear(self, line: bytes) -> None:
        self.heard += 1
        if self.heard % 100 != 1 and b'"ended"' not in line:
            return
        event = parsed(line)
        if not self.numbers:
            self.began = time.monotonic() - event["seconds"]
        # The job's end comes after its last task and has the next number.
        self.numbers.append(event["number"])
        self.times.append(event["seconds"])

    def time(self, done: int) -> float:
        """Seconds from the submission until so many were done."""
        after = bisect.bisect_left(self.numbers, done)
        if after == len(self.numbers):
            raise Failure(f"the job's events end before task {done}")
        if after == 0:
            return self.times[0]
        (from_number, to_number) = self.numbers[after - 1 : after + 1]
        (from_time, to_time) = self.times[after - 1 : after + 1]
        return from_time + (to_time - from_time) * (done - from_number) / (to_number - from_number)


class MemorySamples:
    """The coordinator's resident memory, every second and at the beginning and the end."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.samples: list[tuple[float, int]] = []
        self.has_ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _take(self) -> None:
        self.samples.append((time.monotonic(), self.cluster.memory()["resident"]))

    def _run(self) -> None:
        try:
            while not self.has_ended.wait(1):
                self._take()
        except Failure:
            pass  # the coordinator is gone, of which the job's command tells

    def __enter__(self) -> Self:
        self._take()
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.has_ended.set()
        self.thread.join()
        if kind is None:
            self._take()

    @property
    def idle(self) -> int:
        return self.samples[0][1]

    def at(self, moment: float) -> int:
        """Bytes at the sample nearest to a moment."""
        return min(self.samples, key=lambda sample: abs(sample[0] - moment))[1]
