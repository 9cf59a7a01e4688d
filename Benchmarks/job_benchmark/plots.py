"""Throughput against the tasks' length, and speed-up against nodes."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .cluster import SLOTS
from .measures import NODES
from .table import Records, empty_by_round, values

LOOKS = {
    "skynet": ("SkyNet", "#c1121f", "o"),
    "dask": ("Dask", "#e08e0b", "s"),
    "ray": ("Ray", "#1f77b4", "^"),
    "parallel": ("GNU parallel", "#5a5a5a", "D"),
}
# Where empty tasks are drawn: a logarithmic axis has no place for 0.
EMPTY_SECONDS = 0.0001


def draw(records: Records, folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in (("job-throughput.png", throughput), ("job-speedup.png", speed_up)):
        # Of 800 x 500 pixels.
        figure = Figure(figsize=(8, 5), dpi=100, layout="constrained")
        if plot(figure.add_subplot(), records):
            figure.savefig(folder / name, metadata={"Software": None})
            yield folder / name


def throughput(axes: Axes, records: Records) -> bool:
    lengths = sorted({record["task_seconds"] for record in records if record["figure"] == "throughput"})
    if not lengths:
        return False
    for system, (name, colour, marker) in LOOKS.items():
        points = []
        for length in lengths:
            if length:
                found = values(records, "throughput", "per_second", system=system, task_seconds=length)
            else:
                found = list(empty_by_round(records, system).values())
            if found:
                points.append((length or EMPTY_SECONDS, median(found)))
        if points:
            axes.plot(*zip(*points, strict=True), color=colour, marker=marker, linewidth=2, label=name, zorder=3)
    slots = SLOTS * NODES
    sleeping = [length for length in lengths if length]
    if sleeping:
        limits = [slots / length for length in sleeping]
        axes.plot(sleeping, limits, color="black", linestyle=":", label=f"no overhead: {slots} slots / length")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([length or EMPTY_SECONDS for length in lengths])
    axes.set_xticklabels([f"{length * 1000:g}" if length else "empty" for length in lengths])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("length of a task [ms]")
    axes.set_ylabel("tasks a second [1/s]")
    axes.set_title(f"Throughput, {NODES} nodes of {SLOTS} slots on one machine")
    axes.grid(color="#dddddd")
    axes.legend(framealpha=1)
    return True


def speed_up(axes: Axes, records: Records) -> bool:
    rates = {record["nodes"]: record["per_second"] for record in records if record["figure"] == "speed_up"}
    if 1 not in rates:
        return False
    nodes = sorted(rates)
    axes.plot(nodes, nodes, color="black", linestyle=":", label="ideal")
    name, colour, marker = LOOKS["skynet"]
    speeds = [rates[count] / rates[1] for count in nodes]
    axes.plot(nodes, speeds, color=colour, marker=marker, linewidth=2, label=name, zorder=3)
    for count, speed in zip(nodes, speeds, strict=True):
        axes.annotate(f"{speed:.2f}", (count, speed), (6, -14), textcoords="offset points", color=colour)
    axes.set_xticks(nodes)
    axes.set_yticks(nodes)
    axes.set_xlim(0, max(nodes) * 1.08)
    axes.set_ylim(0, max(nodes) * 1.08)
    axes.set_xlabel(f"nodes of {SLOTS} slots")
    axes.set_ylabel("speed-up [one node's throughput = 1]")
    axes.set_title("Speed-up with tasks of 100 ms")
    axes.grid(color="#dddddd")
    axes.legend(framealpha=1)
    return True
