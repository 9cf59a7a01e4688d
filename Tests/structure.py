#!/usr/bin/env python3
"""How the sources lie in folders, and which folders need which: a report to read, not a gate.

    Tests/structure.py                          sizes of folders, folders that need each other, a summary
    Tests/structure.py --edge Jobs Work         the names behind one folder's need of another
    Tests/structure.py --module SkyCore         one module only

A folder needs another where one of its files uses a name that a file there declares at its top level. Names are found by their
spelling, so that two types of one name in one module are told apart by their folder only, and what an extension adds counts as
nobody's. What a file keeps private counts for no other folder. Files directly in a module belong to the folder ".".
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "Sources"
MOST_FILES = 15
SHORT = 15

DECLARATION = re.compile(
    r"^(?:(?:public|package|internal|final|indirect|nonisolated|distributed|prefix|infix)\s+"
    r"|@\w+(?:\([^)]*\))?\s+)*(?:struct|class|enum|protocol|actor|typealias|func)\s+([A-Za-z_]\w*)"
)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def code(text: str) -> str:
    """The text without comments and without what is in quotes, but for what is put into these."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    inside = re.compile(r"\\\(([^()\"]*(?:\([^()\"]*\)[^()\"]*)*)\)")

    def bare(match: re.Match[str]) -> str:
        return " " + " ".join(inside.findall(match.group(0))) + " "

    text = re.sub(r'"""[\s\S]*?"""', bare, text)
    return re.sub(r'"(?:\\\([^"\n]*\)|\\.|[^"\\\n])*"', bare, text)


class Module:
    """The folders of one module."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.files = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.swift"))}
        self.folder = {path: path.parent.relative_to(folder).as_posix() for path in self.files}
        self.sizes: dict[str, int] = defaultdict(int)
        for name in self.folder.values():
            self.sizes[name] += 1
        bare = {path: code(text) for path, text in self.files.items()}
        owners: dict[str, set[str]] = defaultdict(set)
        for path, text in bare.items():
            for line in text.split("\n"):
                found = DECLARATION.match(line)
                if found:
                    owners[found.group(1)].add(self.folder[path])
        self.edges: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path, text in bare.items():
            own = self.folder[path]
            for word in set(WORD.findall(text)):
                for other in owners.get(word, ()):
                    if other != own and own not in owners[word]:
                        self.edges[own, other][word].add(path.name)

    def needs(self, folder: str) -> set[str]:
        return {other for own, other in self.edges if own == folder}

    def knots(self) -> list[list[str]]:
        """Folders that reach each other (Tarjan 1972), two or more."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        found: list[list[str]] = []

        def visit(node: str) -> None:
            index[node] = low[node] = len(index)
            stack.append(node)
            for other in sorted(self.needs(node)):
                if other not in index:
                    visit(other)
                    low[node] = min(low[node], low[other])
                elif other in stack:
                    low[node] = min(low[node], index[other])
            if low[node] == index[node]:
                knot = []
                while True:
                    knot.append(stack.pop())
                    if knot[-1] == node:
                        break
                if len(knot) > 1:
                    found.append(sorted(knot))

        for node in sorted(self.sizes):
            if node not in index:
                visit(node)
        return found

    def report(self) -> None:
        print(f"{self.name}: {len(self.files)} files in {len(self.sizes)} folders")
        for name, size in sorted(self.sizes.items(), key=lambda item: (-item[1], item[0])):
            mark = " *" if size > MOST_FILES else ""
            needs = ", ".join(sorted(self.needs(name))) or "none"
            print(f"  {name:18} {size:3}{mark:2}  needs {needs}")
        pairs = sorted((a, b) for a, b in self.edges if a < b and (b, a) in self.edges)
        print(f"  folders of more than {MOST_FILES} files: {sum(size > MOST_FILES for size in self.sizes.values())}")
        print(f"  pairs that need each other: {len(pairs)}")
        for a, b in pairs:
            few = min((self.edges[a, b], a, b), (self.edges[b, a], b, a), key=lambda side: len(side[0]))
            print(f"    {a} and {b}; {few[1]} uses of {few[2]}: {', '.join(sorted(few[0])[:6])}")
        knots = self.knots()
        print(f"  folders in knots: {sum(map(len, knots))} of {len(self.sizes)}")
        for knot in knots:
            print(f"    {', '.join(knot)}")


def lines(folder: Path) -> tuple[int, int, int, list[int]]:
    """Files, lines, lines that are comments, and the length of each file."""
    lengths, comments = [], 0
    for path in folder.rglob("*.swift"):
        text = path.read_text(encoding="utf-8").split("\n")
        lengths.append(len(text))
        comments += sum(line.lstrip().startswith("//") for line in text)
    return len(lengths), sum(lengths), comments, sorted(lengths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", help="one module only")
    parser.add_argument("--edge", nargs=2, metavar=("FOLDER", "OTHER"), help="why one folder needs another")
    options = parser.parse_args()
    modules = [Module(path) for path in sorted(SOURCES.iterdir()) if any(path.rglob("*.swift"))]
    if options.module:
        modules = [module for module in modules if module.name == options.module]
        if not modules:
            sys.exit(f"structure: there is no module {options.module} in {SOURCES}")
    if options.edge:
        for module in modules:
            names = module.edges.get(tuple(options.edge), {})
            for word, files in sorted(names.items()):
                print(f"{module.name}: {word:28} {', '.join(sorted(files))}")
        return
    for module in modules:
        module.report()
        print()
    files, count, comments, lengths = lines(SOURCES)
    _, tests, _, _ = lines(ROOT / "Tests")
    print(f"sources: {files} files, {count} lines, median {lengths[len(lengths) // 2]} a file")
    print(f"  comments {100 * comments / count:.0f} %, files of {SHORT} lines or fewer {sum(n <= SHORT for n in lengths)}")
    print(f"  lines of tests for each line of source {tests / count:.2f}")


if __name__ == "__main__":
    main()
