"""Figures beside each other, and whether they are what was aimed at."""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

Records = list[dict[str, Any]]
SYSTEMS = ("skynet", "dask", "ray", "parallel")
HEAD = ("figure", "SkyNet", "Dask", "Ray", "GNU parallel", "target", "")

# Resident memory at the end over that after a quarter of the tasks: what "does not grow with the tasks done" leaves to the
# allocator.
GROWTH_LIMIT = 1.10


@dataclass
class Row:
    name: str
    # What is written, by system.
    texts: dict[str, str] = field(default_factory=dict)
    # What is judged; None where it was not measured.
    value: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    # How the limit is written.
    form: Callable[[float], str] = str
    # Whether the target is a wish, which is shown, and fails nothing.
    is_wish: bool = False
    # A wish beyond a target of at most so much.
    wish: float | None = None

    @property
    def has_target(self) -> bool:
        return self.at_least is not None or self.at_most is not None

    @property
    def is_met(self) -> bool:
        if self.value is None:
            return False
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    def cells(self, is_judged: bool) -> list[str]:
        target = verdict = ""
        if self.has_target:
            sign, limit = ("≥", self.at_least) if self.at_least is not None else ("≤", self.at_most)
            target = f"{'wish: ' if self.is_wish else ''}{sign} {self.form(limit)}"
            verdict = "missing" if self.value is None else ("met" if self.is_met else "**missed**")
            if self.wish is not None:
                target += f", wish: {self.form(self.wish)}"
                if self.is_met and self.value > self.wish:
                    verdict += ", the wish missed"
            if not is_judged and self.value is not None:
                verdict = "not judged"
        return [self.name, *(self.texts.get(system, "") for system in SYSTEMS), target, verdict]


def markdown(rows: list[Row], is_judged: bool) -> list[str]:
    lines = [HEAD, ("---",) * len(HEAD), *(row.cells(is_judged) for row in rows)]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def is_missed(rows: list[Row], is_judged: bool) -> bool:
    """Whether a target is missed; where the counts are too small to judge by, whether a figure is missing."""
    return any(
        row.has_target and not row.is_wish and (not row.is_met if is_judged else row.value is None) for row in rows
    )


def values(records: Records, figure: str, key: str, **wanted: Any) -> list[float]:
    return [
        record[key]
        for record in records
        if record["figure"] == figure and all(record.get(name) == value for name, value in wanted.items())
    ]


def empty_by_round(records: Records, system: str) -> dict[int, float]:
    """Empty tasks a second. Peers have two figures a round, one with more tasks: the better one counts."""
    rounds: dict[int, float] = {}
    for record in records:
        if record["figure"] == "throughput" and record["system"] == system and record["task_seconds"] == 0:
            rounds[record["round"]] = max(rounds.get(record["round"], 0), record["per_second"])
    return rounds


def rate(value: float) -> str:
    return f"{value:,.0f}/s" if value >= 100 else f"{value:.1f}/s"


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def milliseconds(value: float) -> str:
    return f"{value:.2f} ms"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.0f} MB"


def times(value: float) -> str:
    return f"{value:.2f} x"


def best(found: list[float], form: Callable[[float], str], *, is_most: bool) -> str:
    """The median, with the best beside it where there are several."""
    if not found:
        return "-"
    if len(found) == 1:
        return form(found[0])
    return f"{form(median(found))} (best {form(max(found) if is_most else min(found))})"


def rows(records: Records) -> list[Row]:
    return [*throughput(records), *latency(records), *makespan(records), *long_job(records), *lengths(records)]


def throughput(records: Records) -> list[Row]:
    found = {system: empty_by_round(records, system) for system in SYSTEMS}
    texts = {system: best(list(found[system].values()), rate, is_most=True) for system in SYSTEMS}
    ours = found["skynet"]
    row = Row("empty tasks a second, results stored", texts, at_least=40_000, form=rate, is_wish=True)
    row.value = median(ours.values()) if ours else None
    result = [row]
    for system, name, limit in (("dask", "Dask", 15), ("ray", "Ray", 10)):
        theirs = found[system]
        ratios = [ours[number] / theirs[number] for number in ours if number in theirs]
        row = Row(f"the same, to {name} (median of the rounds)", at_least=limit, form=lambda value: f"{value:g} x")
        row.texts["skynet"] = best(ratios, times, is_most=True)
        row.value = median(ratios) if ratios else None
        result.append(row)
    quiet = values(records, "throughput_quiet", "per_second")
    result.append(
        Row("empty tasks a second, the command writes no line a task", {"skynet": best(quiet, rate, is_most=True)})
    )
    return result


def latency(records: Records) -> list[Row]:
    result = []
    for key, name, limit, wish in (("p50_ms", "half", 1.0, 0.6), ("p99_ms", "99 %", 5.0, 2.0)):
        row = Row(
            f"one task, from submission to stored result: {name} within",
            {
                system: best(values(records, "latency", key, system=system), milliseconds, is_most=False)
                for system in SYSTEMS
            },
            at_most=limit,
            wish=wish,
            form=lambda value: f"{value:g} ms",
        )
        found = values(records, "latency", key, system="skynet")
        row.value = found[0] if found else None
        result.append(row)
    return result


def makespan(records: Records) -> list[Row]:
    found = {system: values(records, "makespan", "seconds", system=system) for system in SYSTEMS}
    tasks = values(records, "makespan", "tasks")
    row = Row(
        f"{tasks[0] if tasks else 80} one-second tasks on 2 nodes of 4 slots",
        {system: best(found[system], seconds, is_most=False) for system in SYSTEMS},
        at_most=10.1,
        form=lambda value: f"{value:g} s",
    )
    row.value = median(found["skynet"]) if found["skynet"] else None

    many = values(records, "many_nodes", "seconds")
    tasks = values(records, "many_nodes", "tasks")
    nodes = values(records, "many_nodes", "nodes")
    other = Row(
        f"{tasks[0] if tasks else 2000:,} one-second tasks on {nodes[0] if nodes else 100} nodes of 4 slots",
        {"skynet": best(many, seconds, is_most=False)},
        value=median(many) if many else None,
        at_most=5.6,
        form=lambda value: f"{value:g} s",
    )
    return [row, other]


def long_job(records: Records) -> list[Row]:
    found = [record for record in records if record["figure"] == "long_job"]
    tasks, window = (found[0]["tasks"], found[0]["window_tasks"]) if found else (1_000_000, 100_000)
    memory = Row(f"{tasks:,} empty tasks: coordinator's memory at most", at_most=250e6, form=megabytes)
    growth = Row(
        "its memory with 25 %, 50 %, all done", at_most=GROWTH_LIMIT, form=lambda value: f"{value:.2f} x the 25 %"
    )
    last = Row(f"time a task, last {window:,} to first", at_most=1.1, form=times)
    if found:
        resident = [median([job[f"resident_{percent}_bytes"] for job in found]) for percent in (25, 50, 100)]
        memory.value = max(job["peak_bytes"] for job in found)
        memory.texts["skynet"] = megabytes(memory.value)
        growth.value = resident[2] / resident[0]
        growth.texts["skynet"] = ", ".join(megabytes(each) for each in resident)
        late, early = (
            sum(job[f"{which}_microseconds"] for job in found) / len(found) for which in ("last", "first")
        )
        last.value = late / early
        last.texts["skynet"] = f"{times(last.value)} ({late:.1f} to {early:.1f} µs, mean of {len(found)} jobs)"
    return [memory, growth, last]


def lengths(records: Records) -> list[Row]:
    found = sorted({record["task_seconds"] for record in records if record["figure"] == "throughput"} - {0})
    return [
        Row(
            f"tasks of {length * 1000:g} ms a second",
            {
                system: best(
                    values(records, "throughput", "per_second", system=system, task_seconds=length), rate, is_most=True
                )
                for system in SYSTEMS
            },
        )
        for length in found
    ]
