"""Runs a script of this folder once more in namespaces of its own, which the kernel takes away with whatever is in them."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = ["unshare", "setpriv", "ip", "nft", "clang"]


def enter(script: Path, program: Path, seed: int, words: list[object]) -> int:
    """Runs the script as `script --inside FOLDER WORDS...`; the folder is kept where that ends with 1. Returns the exit code."""
    name = script.stem
    if os.geteuid() != 0:
        sys.exit(f"{name}: needs root, to make network namespaces")
    if absent := [tool for tool in TOOLS if not shutil.which(tool)]:
        sys.exit(f"{name}: needs {', '.join(absent)} (deploy/setup.sh --lab)")
    if not os.access(program, os.X_OK):
        sys.exit(f"{name}: no program at {program}; make release builds it")
    print(f"seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix=f"skynet-{name}-"))
    again = [sys.executable, "-B", script, "--inside", folder, *words]
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
