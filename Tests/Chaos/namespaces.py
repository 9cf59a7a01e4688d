"""Runs a script of this folder once more in namespaces of its own, which the kernel takes away with whatever is in them; and the
options that such scripts have in common."""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from hosts import ROOT

TOOLS = ["unshare", "setpriv", "ip", "nft", "clang"]
MOST_HOSTS = 50


def parser(description: str, rounds: int, hosts: int, least_hosts: str, quick: str) -> argparse.ArgumentParser:
    """The options of a script that does rounds on hosts; `hosts` and `rounds` are what they are where nothing is said."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=int, default=rounds)
    made.add_argument("--first", type=int, default=1, help="number of the first round: what a round draws depends on it and the seed")
    made.add_argument("--hosts", type=int, default=hosts, help=f"{least_hosts} at least")
    made.add_argument("--seed", type=int, default=None)
    made.add_argument("--quick", action="store_true", help=quick)
    made.add_argument("--program", type=Path, default=ROOT / ".build/release/skynode")
    made.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return made


def read(made: argparse.ArgumentParser, least_hosts: int, quick_rounds: Callable[[argparse.Namespace], int]) -> argparse.Namespace:
    """What was said, with a seed; ends the script where it cannot be."""
    arguments = made.parse_args()
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 32)
    if not least_hosts <= arguments.hosts <= MOST_HOSTS:
        sys.exit(f"{Path(sys.argv[0]).stem}: --hosts takes {least_hosts} to {MOST_HOSTS}")
    if arguments.quick:
        arguments.rounds = min(arguments.rounds, quick_rounds(arguments))
    arguments.program = arguments.program.resolve()
    return arguments


def words(arguments: argparse.Namespace) -> list[object]:
    """The common options once more, for the script in the namespaces."""
    said = ["--rounds", arguments.rounds, "--first", arguments.first, "--hosts", arguments.hosts, "--seed", arguments.seed]
    return said + ["--program", arguments.program] + (["--quick"] if arguments.quick else [])


def enter(script: Path, arguments: argparse.Namespace, further: list[object]) -> int:
    """Runs the script as `script --inside FOLDER OPTIONS...`; the folder is kept where that ends with 1. Returns the exit code."""
    name, program = script.stem, arguments.program
    if os.geteuid() != 0:
        sys.exit(f"{name}: needs root, to make network namespaces")
    if absent := [tool for tool in TOOLS if not shutil.which(tool)]:
        sys.exit(f"{name}: needs {', '.join(absent)} (deploy/setup.sh --lab)")
    if not os.access(program, os.X_OK):
        sys.exit(f"{name}: no program at {program}; make release builds it")
    print(f"seed {arguments.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix=f"skynet-{name}-"))
    again = [sys.executable, "-B", script, "--inside", folder, *words(arguments), *further]
    namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"]
    # The shell is the first process in there, and takes care of those that lost their parents.
    inside = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *namespaces, "sh", "-c", '"$@"; exit $?', "sh", *map(str, again)])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        status = inside.wait()
    except KeyboardInterrupt:
        status = 130
    finally:
        inside.kill()
        inside.wait()
    if status == 1:
        print(f"what nodes and commands said is in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return status
