"""What the first release build costs: processor seconds by module, of which "BoringSSL" is all C++ code of swift-nio-ssl, and when
each was compiled, in seconds after the start. At the end: how long it took by the clock, and how many cores were busy with it.

    make build-benchmark [OPTIONS="--check"]

Everything is built anew in a folder of its own, from packages that are fetched before. Compilers are called through this file,
which notes the processor time of each. --check looks at processor time and not at the clock, which measures what else the machine
does, too; a busy machine makes processor time longer as well, so compare figures of one machine and one hour.
"""

import argparse
import collections
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".build" / "first"
# Processor seconds that the whole may take: 553 s were measured on two cores that did other work, and others are slower.
LIMIT = 750


def note(log: str, compiler: str, arguments: list[str]) -> int:
    """Runs a compiler, and notes what it was called for and took."""
    started = time.time()
    child = os.spawnv(os.P_NOWAIT, compiler, [compiler, *arguments])
    _, status, usage = os.wait4(child, 0)
    name = ""
    for option in ("-module-name", "-o"):
        if option in arguments[:-1]:
            name = arguments[arguments.index(option) + 1]
            break
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{usage.ru_utime + usage.ru_stime:.3f} {started:.3f} {time.time():.3f} {name}\n")
    return os.waitstatus_to_exitcode(status)


def wrapper(folder: Path, name: str, log: Path, swift: Path) -> str:
    """A program in the place of a compiler of the toolchain."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -B "{__file__}" --note "{log}" "{swift.parent / name}" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def module(name: str) -> str:
    """The module that a call of a compiler was for: of C and C++, the target whose folder its result is in."""
    target = re.search(r"/([^/]+)\.build/", name)
    found = target[1] if target else name
    return "BoringSSL" if "BoringSSL" in found else found or "(SwiftPM: plans and manifests)"


def main() -> int:
    if sys.argv[1:2] == ["--note"]:
        return note(sys.argv[2], sys.argv[3], sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help=f"fail above {LIMIT} s")
    parser.add_argument("build", nargs="+", help="the build's command")
    options = parser.parse_args()

    swift = Path(shutil.which(options.build[0]) or "")
    if not swift.name:
        sys.exit(f"build-benchmark: there is no {options.build[0]}")
    swift = swift.resolve()
    shutil.rmtree(SCRATCH, ignore_errors=True)
    command = [*options.build, "--scratch-path", str(SCRATCH)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        environment = os.environ | {
            "SWIFT_EXEC": wrapper(Path(folder), "swiftc", log, swift),
            "CC": wrapper(Path(folder), "clang", log, swift),
        }
        fetch = [options.build[0], "package", "resolve", "--scratch-path", str(SCRATCH)]
        fetched = subprocess.run(fetch, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if fetched.returncode != 0:
            sys.exit(f"build-benchmark: the packages cannot be fetched: {fetched.stderr[-500:]}")
        started = time.time()
        child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        clock = time.time() - started
        if status != 0:
            sys.exit("build-benchmark: the build has failed")
        seconds: collections.Counter[str] = collections.Counter()
        span: dict[str, tuple[float, float]] = {}
        for line in log.read_text().splitlines():
            took, first, last, name = line.split(" ", 3)
            name = module(name)
            seconds[name] += float(took)
            begin, end = span.get(name, (float(first), float(last)))
            span[name] = (min(begin, float(first)), max(end, float(last)))
    shutil.rmtree(SCRATCH, ignore_errors=True)

    total = usage.ru_utime + usage.ru_stime
    for name, took in seconds.most_common():
        if took >= 1:
            print(f"{took:6.0f} s  {name}, from {span[name][0] - started:.0f} to {span[name][1] - started:.0f} s")
    print(f"{total - sum(took for took in seconds.values() if took >= 1):6.0f} s  the rest, and linking")
    print(f"{total:6.0f} s  in all, {clock:.0f} s by the clock: {total / clock:.2f} of {os.cpu_count()} cores were busy with it")
    if options.check and total > LIMIT:
        print(f"build-benchmark: more than {LIMIT} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
