"""What the peers need for the same, by Benchmarks/peers/run.sh."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import processes
from .cluster import parsed
from .measures import Sizes

SCRIPT = Path(__file__).resolve().parent.parent / "peers/run.sh"
# All peers together; they take three or four minutes, and an installation may come first.
ROUND_SECONDS = 3600
# Ray takes its time.
END_SECONDS = 60


def round_(sizes: Sizes, number: int) -> Iterator[dict[str, Any]]:
    """Lines of the peers, with the names that SkyNet's have. In later rounds empty tasks only."""
    lengths = sizes.lengths if number == 1 else (0,)
    flags = ["--lengths", ",".join(f"{length:g}" for length in lengths), "--length-seconds", str(sizes.length_seconds)]
    flags += sizes.peers_first if number == 1 else sizes.peers_later
    with processes.lines([str(SCRIPT), *flags], ROUND_SECONDS, END_SECONDS, is_loud=True) as lines:
        for line in lines:
            figures = parsed(line)
            figure = figures.pop("measure")
            system = figures.pop("peer")
            if number > 1 and figure != "throughput":
                continue  # of one task, because something has to be said
            if figure == "throughput":
                figures.setdefault("task_seconds", 0)
            yield {"figure": figure, "system": system, "round": number, **figures}
