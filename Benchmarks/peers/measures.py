"""What is measured of a peer that is driven from Python; the same of each, a line of JSON a figure."""

import argparse
import json
import math
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NoReturn

# Two nodes of four.
NODES = 2
SLOTS = 8

# Has so many tasks of so many seconds done and returns their results, which are the numbers of the tasks in order.
Run = Callable[[int, float], list[int]]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,6}", text):
        raise ValueError
    return int(text)


def lengths(text: str) -> list[float]:
    if not re.fullmatch(r"[0-9](\.[0-9]+)?(,[0-9](\.[0-9]+)?)*", text):
        raise ValueError
    return [float(length) for length in text.split(",")]


def main(peer: str, version: str, start: Callable[[], AbstractContextManager[Run]]) -> None:
    parser = Parser(allow_abbrev=False)
    parser.add_argument("--tasks", type=count, default=5000, help="empty tasks, for the throughput (5000)")
    parser.add_argument("--single", type=count, default=200, help="tasks one at a time, for the latency (200)")
    parser.add_argument("--seconds-tasks", type=count, default=80, help="tasks of one second, for the makespan (80)")
    parser.add_argument("--lengths", type=lengths, default=[], help="seconds, for throughputs too: 0,0.01,0.1")
    parser.add_argument("--length-seconds", type=count, default=8, help="how long each of those should take (8)")
    options = parser.parse_args()
    end_on_signals()
    with start() as run:
        end_on_signals()  # again: Ray has put handlers of its own in their place
        for figures in measure(run, options):
            print(json.dumps({"peer": peer, "version": version, **figures}, separators=(",", ":")), flush=True)


def end_on_signals() -> None:
    # By an exception, so that the peer's processes are ended on the way out.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def measure(run: Run, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    warm_up(run, min(options.tasks, 500))

    latencies = sorted(timed(run, 1, 0) * 1000 for _ in range(options.single))
    yield {
        "measure": "latency",
        "tasks": options.single,
        "p50_ms": round(percentile(latencies, 50), 3),
        "p99_ms": round(percentile(latencies, 99), 3),
    }

    seconds = timed(run, options.tasks, 0)
    rate = options.tasks / seconds
    yield {
        "measure": "throughput",
        "tasks": options.tasks,
        "seconds": round(seconds, 4),
        "per_second": round(rate, 1),
    }

    for length in options.lengths:
        # As if nothing were handed out while tasks sleep: the time is an upper estimate.
        tasks = max(SLOTS, int(options.length_seconds / (1 / rate + length / SLOTS)))
        seconds = timed(run, tasks, length)
        yield {
            "measure": "throughput",
            "task_seconds": length,
            "tasks": tasks,
            "seconds": round(seconds, 4),
            "per_second": round(tasks / seconds, 1),
        }

    seconds = timed(run, options.seconds_tasks, 1)
    yield {"measure": "makespan", "tasks": options.seconds_tasks, "task_seconds": 1.0, "seconds": round(seconds, 4)}


def warm_up(run: Run, tasks: int) -> None:
    # Workers may start only when there is work: wait until there is one for each slot, but not for ever.
    for _ in range(20):
        if timed(run, SLOTS, 0.5) < 0.75:
            break
    run(tasks, 0)


def timed(run: Run, tasks: int, length: float) -> float:
    began = time.perf_counter()
    results = run(tasks, length)
    seconds = time.perf_counter() - began
    if results != list(range(tasks)):
        sys.exit(f"peers: {tasks} tasks of {length} s did not give their results")
    return seconds


def percentile(ordered: list[float], percent: int) -> float:
    return ordered[math.ceil(len(ordered) * percent / 100) - 1]
