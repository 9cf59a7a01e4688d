"""What jobs cost on a cluster of this machine: SkyNet, and beside it Dask, Ray and GNU parallel in the same run.

Benchmarks/jobs.sh [--output FILE] [--plots FOLDER] [--quick] [--check]
Benchmarks/jobs.sh --from FILE [--plots FOLDER] [--check]

Lines of JSON go to a file, the table in Markdown to standard output, two plots to a folder, and what is being measured to
standard error.
"""

import argparse
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from job_benchmark import measures, peers, plots, table
from job_benchmark.processes import Failure

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / "Benchmarks/.build"


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


class Records:
    """What was measured, in memory and, line by line as it comes, in a file."""

    def __init__(self, path: Path) -> None:
        self.all: list[dict[str, Any]] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("w", encoding="utf-8")

    def add(self, record: dict[str, Any]) -> None:
        self.all.append(record)
        print(json.dumps(record, separators=(",", ":")), file=self.file, flush=True)

    def take(self, what: str, records: Iterable[dict[str, Any]]) -> None:
        """Adds what is measured meanwhile. A figure that cannot be had is told, and the others are measured."""
        print(f"jobs: {time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)
        try:
            for record in records:
                self.add(record)
        except Failure as failure:
            print(f"jobs: {what}: {failure}", file=sys.stderr, flush=True)
            self.add({"figure": "failure", "what": what, "reason": str(failure)})


def main() -> int:
    parser = Parser(prog="jobs", allow_abbrev=False)
    parser.add_argument("--output", type=Path, default=SCRATCH / "jobs.jsonl", help="file for the lines of JSON")
    parser.add_argument("--from", dest="source", type=Path, help="measure nothing: table and plots of such a file")
    parser.add_argument("--plots", type=Path, help="folder for the plots (docs; with --quick Benchmarks/.build)")
    parser.add_argument("--quick", action="store_true", help="everything, with counts too small to judge by")
    parser.add_argument("--check", action="store_true", help="fail where a target is missed or a figure missing")
    options = parser.parse_args()
    end_on_signals()

    if options.source:
        try:
            records = [json.loads(line) for line in options.source.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError) as error:
            parser.error(f"{options.source}: not the lines of a run: {error}")
    else:
        records = measured(options)
    if not records or records[0].get("figure") != "machine":
        parser.error(f"{options.source}: not the lines of a run: the first is not about the machine")

    is_quick = records[0]["quick"]
    rows = table.rows(records)
    print("\n".join(table.markdown(rows, is_judged=not is_quick)))
    folder = options.plots or (SCRATCH if is_quick else ROOT / "docs")
    for path in plots.draw(records, folder):
        print(f"jobs: drew {path}", file=sys.stderr)
    return 1 if options.check and table.is_missed(rows, is_judged=not is_quick) else 0


def measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    sizes = measures.QUICK if options.quick else measures.FULL
    program = Path(os.environ.get("PROGRAM") or ROOT / ".build/release/skynode").resolve()
    try:
        records = Records(options.output)
    except OSError as error:
        sys.exit(f"jobs: cannot write {options.output}: {error.strerror}")
    records.add(machine(options.quick, program))
    for number in range(1, sizes.rounds + 1):
        records.take(f"round {number}: SkyNet", measures.round_(program, sizes, number))
        records.take(f"round {number}: the peers", peers.round_(sizes, number))
    records.take("nodes: speed-up", measures.speed_up(program, sizes))
    records.take(f"{sizes.many_nodes} nodes", measures.many_nodes(program, sizes))
    records.take(f"a job of {sizes.long_tasks} tasks", measures.long_job(program, sizes))
    print(f"jobs: all lines are in {options.output}", file=sys.stderr)
    return records.all


def machine(is_quick: bool, program: Path) -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "figure": "machine",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cores": os.cpu_count(),
        "processor": models[0] if models else platform.machine(),
        "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2),
        "program": str(program),
        "quick": is_quick,
    }


def end_on_signals() -> None:
    # By an exception, so that all that was started is ended on the way out; a second signal does not interrupt that.
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def end(number: int, _: FrameType | None) -> NoReturn:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in numbers:
        signal.signal(number, end)


if __name__ == "__main__":
    sys.exit(main())
