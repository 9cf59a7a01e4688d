#!/usr/bin/env python3
"""Draws what `perf record -g` has seen as a flame graph: an SVG that needs no other file.

    perf script | Benchmarks/flame.py > flame.svg
    perf script | Benchmarks/flame.py --folded          each stack on a line, the innermost function last, and how often
    perf script | Benchmarks/flame.py --most 20         the functions in which most samples are, alone and with those they call

The widths are shares of the samples, the callers are below. Names of Swift are demangled by `swift demangle`.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from html import escape

FRAME = re.compile(r"^\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")
WIDTH, LINE = 1600, 17
# A frame that is narrower than this share of the whole cannot be seen.
NARROWEST = 0.0005
COLOURS = ["#e8743b", "#ee9a3a", "#f2b134", "#e9603f", "#f0c04a"]


def stacks(lines):
    """How often each stack was seen: a tuple of a process's name and its functions, the outermost first."""
    found, process, frames = Counter(), "", []
    for line in lines:
        if not line.strip():
            if process:
                found[(process, *reversed(frames))] += 1
            process, frames = "", []
        elif match := FRAME.match(line):
            name, place = match.groups()
            frames.append(name if name != "[unknown]" else f"[{place.rsplit('/', 1)[-1].strip('[]')}]")
        elif not line[0].isspace() and not line.startswith("#"):
            process = re.split(r"\s+\d+", line.strip(), maxsplit=1)[0]
    if process:
        found[(process, *reversed(frames))] += 1
    return found


def demangled(found):
    """The same with names as people write them."""
    names = sorted({name for stack in found for name in stack})
    if not shutil.which("swift"):
        return found
    result = subprocess.run(
        ["swift", "demangle", "--simplified"], input="\n".join(names), capture_output=True, text=True, check=True)
    plain = dict(zip(names, result.stdout.split("\n")))
    sums = Counter()
    for stack, count in found.items():
        sums[tuple(plain[name] for name in stack)] += count
    return sums


def most(found, count):
    """The functions in which most samples are."""
    alone, whole = Counter(), Counter()
    for stack, samples in found.items():
        alone[stack[-1]] += samples
        for name in set(stack[1:]):
            whole[name] += samples
    total = sum(found.values()) or 1
    print("  alone   with calls")
    for name, samples in alone.most_common(count):
        print(f"{100 * samples / total:6.1f} %  {100 * whole[name] / total:8.1f} %  {name}")


def svg(found):
    total = sum(found.values())
    # By depth: the frames, each with the place where it begins, its width, and its name.
    levels = defaultdict(list)

    def place(group, depth, start):
        children = defaultdict(list)
        for stack, count in group:
            if len(stack) > depth:
                children[stack[depth]].append((stack, count))
        for name, inside in sorted(children.items()):
            width = sum(count for _, count in inside)
            if width >= NARROWEST * total:
                levels[depth].append((start, width, name))
                place(inside, depth + 1, start)
            start += width

    sys.setrecursionlimit(10_000)
    place(list(found.items()), 0, 0)
    height = LINE * (max(levels, default=0) + 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'font-family="monospace" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fffdf8"/>',
        f'<text x="4" y="12">{total} samples; the callers are below, and names are whole where the mouse is</text>',
    ]
    for depth, frames in levels.items():
        y = height - LINE * (depth + 1)
        for start, width, name in frames:
            x, w = WIDTH * start / total, WIDTH * width / total
            colour = COLOURS[sum(name.encode()) % len(COLOURS)]
            shown = name[: max(0, int((w - 4) / 6.7))]
            lines.append(
                f'<g><title>{escape(name)}: {100 * width / total:.1f} %</title>'
                f'<rect x="{x:.2f}" y="{y}" width="{max(w - 0.5, 0.3):.2f}" height="{LINE - 1}" fill="{colour}"/>'
                + (f'<text x="{x + 2:.2f}" y="{y + 12}">{escape(shown)}</text>' if len(shown) > 2 else "") + "</g>")
    print("\n".join(lines + ["</svg>"]))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog="It reads the output of `perf script` from standard input.")
    parser.add_argument("--folded", action="store_true", help="print stacks instead of a drawing")
    parser.add_argument("--most", type=int, metavar="N", help="print the N functions with most samples instead")
    options = parser.parse_args()
    found = demangled(stacks(sys.stdin))
    if not found:
        sys.exit("flame.py: there are no samples in it; was it `perf script` of what `perf record -g` wrote?")
    if options.folded:
        for stack, count in sorted(found.items()):
            print(";".join(name.replace(";", ",") for name in stack), count)
    elif options.most:
        most(found, options.most)
    else:
        svg(found)


if __name__ == "__main__":
    main()
