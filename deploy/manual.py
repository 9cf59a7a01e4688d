#!/usr/bin/env python3
"""The manual page, skynode(1), from what the program says of itself.

    skynode --experimental-dump-help | deploy/manual.py --date 2026-11-23 > skynode.1

The parser's own generator repeats the options of connections with every command, shows hidden commands, and closes with an
EXIT STATUS that is not this program's.
"""
import argparse
import json
import re
import sys

EXIT_STATUS = [
    ("0", "Done. A reader of standard output that has read enough (| head) is no failure."),
    ("1", "Done, but some tasks failed; or some nodes did not answer."),
    ("2", "Wrong usage, bad input, or results that cannot be written."),
    ("3", "No cluster reached, or the coordinating node was lost and did not come back."),
    ("130", "Cancelled by Ctrl-C; or, as 129 (SIGHUP) and 143 (SIGTERM), ended at once."),
]

EXAMPLES = [
    ("Scan one image with all cores of this machine:", "skynode scan m31.fits -o out"),
    ("Scan a night, and write one catalogue of all images:", "skynode scan night/ -o night.ecsv"),
    ("See the brightest sources of an image:", "skynode scan m31.fits -o - | sort -t , -k 12 -g | head"),
    ("Compare tonight with last week:", "skynode scan tonight.fits --reference lastweek.fits -o out"),
    ("Make a key, and start a node that other machines reach:",
     "skynode key new > cluster.key\nskynode serve --listen 0.0.0.0:7420 --cluster-key cluster.key"),
    ("Who is in the cluster, and what it does:", "skynode nodes\nskynode jobs"),
    ("Ask another node than this machine's:", "export SKYNODE_NODE=dome-2:7420\nskynode jobs"),
    ("Hand a job over, follow it, and fetch its results:",
     "skynode scan m31.fits --detach\nskynode jobs watch @last\nskynode jobs results @last -o out"),
]

ENVIRONMENT = [
    ("SKYNODE_NODE", "The node that commands ask, where no --node is given."),
    ("SKYNODE_CLUSTER_KEY", "The cluster's key, for every command that is given no --cluster-key; empty for none."),
    ("SKYNODE_REQUIRE_CLUSTER", "true: scan and simulate end with exit code 3 where no other node is reached (--require-cluster)."),
    ("SKYNODE_CONFIG", "The configuration file of serve."),
    ("SKYNODE_...", "Every key of the configuration, in capitals and with underscores: SKYNODE_WORKER_MEMORY is worker-memory."),
    ("STATE_DIRECTORY, XDG_STATE_HOME, HOME", "Where serve keeps its jobs when it is not told."),
    ("NO_COLOR", "Not empty: no colours, unless --color always is given."),
    ("TMPDIR", "Where workers have their sockets; /tmp where it cannot be used."),
]

FILES = [
    ("/etc/skynode/skynode.yaml", "Configuration of the service."),
    ("~/.config/skynode/cluster.key, /etc/skynode/cluster.key",
     "The cluster's key: the first that can be read is taken where no key is named. The service has the second."),
    ("/var/lib/skynode/NAME", "Jobs and their results, of the service and of root."),
    ("~/.local/state/skynode/NAME", "The same of other users."),
    ("/usr/share/doc/skynode/USING.md", "How to scan, with every file, column and option."),
    ("/usr/share/doc/skynode/OPERATING.md", "How to run nodes, with every log line and what to do about it."),
]


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    # A line that begins with a dot or an apostrophe would be a request.
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def paragraphs(text):
    """Without the examples that help has at its end: the manual has a section of them."""
    parts = [part.strip() for part in text.split("\n\n")]
    return ".Pp\n".join(escaped(part) + "\n" for part in parts if part and not part.startswith("EXAMPLES:"))


def shown(argument):
    return argument["shouldDisplay"] and argument.get("valueName") not in ("help", "version")


def spelling(argument):
    names = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names", [])]
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        return f"<{value}>" + (" ..." if argument["isRepeating"] else "")
    names.sort(key=lambda name: name.startswith("--"))
    return ", ".join(names) + (f" <{value}>" if argument["kind"] == "option" else "")


def item(argument):
    text = argument.get("abstract", "")
    default = argument.get("defaultValue")
    if default and "Default" not in text and argument["kind"] == "option":
        text += " Default: the current folder." if default == "." else f" Default: {default}."
    return f".It {escaped(spelling(argument))}\n{escaped(text)}\n"


def options(arguments):
    """Those without a group first, then each group below its title."""
    groups = {}
    for argument in arguments:
        groups.setdefault(argument.get("sectionTitle") or "", []).append(argument)
    out = []
    for title in sorted(groups, key=bool):
        head = f".Pp\n{escaped(title)}:\n" if title and len(groups) > 1 else ""
        out.append(head + ".Bl -tag -width 6n\n" + "".join(map(item, groups[title])) + ".El\n")
    return "".join(out)


def commands(command, path):
    """Every command that people see, with its path."""
    yield path, command
    for sub in command.get("subcommands", []):
        if sub["shouldDisplay"] and sub["commandName"] != "help":
            yield from commands(sub, path + [sub["commandName"]])


def synopsis(path, command):
    positional = [a for a in command.get("arguments", []) if shown(a) and a["kind"] == "positional"]
    words = [spelling(a) if not a["isOptional"] else f"[{spelling(a)}]" for a in positional]
    return ".Nm\n" + escaped(" ".join(path[1:] + ["[option ...]"] + words)) + "\n.br\n"


def page(root, date):
    everything = [(path, command) for path, command in commands(root, ["skynode"])]
    leaves = [(path, command) for path, command in everything if not any(
        s["shouldDisplay"] and s["commandName"] != "help" for s in command.get("subcommands", []))]
    # What many commands have is told once.
    counts = {}
    for _, command in leaves:
        for argument in filter(shown, command.get("arguments", [])):
            if argument["kind"] != "positional":
                counts.setdefault(item(argument), []).append(argument)
    common = {text for text, found in counts.items() if len(found) > len(leaves) // 3}
    out = [f'.Dd {date}\n.Dt SKYNODE 1\n.Os SkyNet\n.Sh NAME\n.Nm skynode\n']
    out.append(f".Nd {escaped(root['abstract'].rstrip('.').lower())}\n")
    out.append(".Sh SYNOPSIS\n" + "".join(synopsis(path, command) for path, command in leaves))
    about = root.get("discussion", "").split("\n\nExit codes")[0]
    out.append(".Sh DESCRIPTION\n" + paragraphs(about))
    out.append(".Sh COMMANDS\n")
    for path, command in everything[1:]:
        out.append(f".Ss {escaped(' '.join(path))}\n" + paragraphs(command.get("abstract", "")))
        about = paragraphs(command.get("discussion", ""))
        if about:
            out.append(".Pp\n" + about)
        if (path, command) in leaves:
            own = [a for a in command.get("arguments", []) if shown(a) and item(a) not in common]
            out.append(options(own))
            if any(item(a) in common for a in command.get("arguments", []) if shown(a)):
                out.append(".Pp\nAnd those of\n.Sx CONNECTIONS .\n")
    out.append(".Sh CONNECTIONS\nOptions of many commands: which node is asked, and who may take part.\n")
    out.append(options([found[0] for text, found in counts.items() if text in common]))

    def table(title, rows):
        return f".Sh {title}\n.Bl -tag -width 6n\n" + "".join(
            f".It {escaped(name)}\n{escaped(text)}\n" for name, text in rows) + ".El\n"

    out.append(table("ENVIRONMENT", ENVIRONMENT))
    out.append(table("FILES", FILES))
    out.append(table("EXIT STATUS", EXIT_STATUS))
    out.append(".Sh EXAMPLES\n" + ".Pp\n".join(
        f"{escaped(words)}\n.Bd -literal -offset indent\n{escaped(lines)}\n.Ed\n" for words, lines in EXAMPLES))
    out.append(".Sh SEE ALSO\n.Xr ds9 1 ,\n.Xr source-extractor 1 ,\n.Xr systemd.service 5\n")
    return "".join(out)


parser = argparse.ArgumentParser(description="Writes the manual page of skynode to standard output.")
parser.add_argument("--date", required=True, help="the day of the release, as 2026-11-23")
sys.stdout.write(page(json.load(sys.stdin)["command"], parser.parse_args().date))
