#!/usr/bin/env python3
"""Holds rules and dashboard against what a node tells at /metrics. check.sh runs it; the standard library is enough.

Every metric in an expression must be told by the nodes, every label that it is selected by must be one of its labels,
and every value that it is selected by must be there. The dashboard must be one that Grafana can show: panels that do
not overlap, each with title, description and unit, and no colours for what is not there. Every alert must have a test.
"""

import argparse
import itertools
import json
import re
import sys

# What Prometheus itself adds: series, and labels of each target.
PROMETHEUS_SERIES = {"up": {"job": set(), "instance": set(), "cluster": set()}, "ALERTS": None}
TARGET_LABELS = {"job", "instance", "cluster"}
WORDS = {"by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless", "offset", "bool"}
COLUMNS = 24

NAME = r"[A-Za-z_:][A-Za-z0-9_:]*"
SELECTOR = re.compile(rf"(?P<name>{NAME})\s*(?:\{{(?P<matchers>[^}}]*)\}})?(?P<call>\s*\()?")
MATCHER = re.compile(rf'({NAME})\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
SAMPLE = re.compile(rf"^({NAME})(?:\{{(.*)\}})? (\S+)$")


def live_series(paths):
    """Metric name -> label name -> the values it has."""
    series = {}
    for path, line in ((path, line) for path in paths for line in open(path, encoding="utf-8")):
        if line.startswith("#") or not line.strip():
            continue
        sample = SAMPLE.match(line.rstrip("\n"))
        if sample is None:
            raise SystemExit(f"{path}: no sample: {line!r}")
        labels = series.setdefault(sample[1], {})
        for name, _, value in MATCHER.findall(sample[2] or ""):
            labels.setdefault(name, set()).add(value)
    return series


def rule_expressions(path):
    """Alert -> expression, from the few forms of YAML that the rules are written in."""
    expressions, alert, lines = {}, None, open(path, encoding="utf-8").read().split("\n")
    for number, line in enumerate(lines):
        if found := re.match(r"\s+- (?:alert|record): (\S+)", line):
            alert = found[1]
        if found := re.match(r"(\s+)expr: (.*)", line):
            body = itertools.takewhile(lambda text: text.startswith(found[1] + "  "), lines[number + 1:])
            expressions[alert] = " ".join(text.strip() for text in body) if found[2] == ">-" else found[2]
    return expressions


def selectors(expression):
    """The metrics in an expression, each with its matchers."""
    # Labels to group by and durations are no metrics.
    text = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", expression)
    text = re.sub(r"\[[^]]*\]", " ", text)
    text = re.sub(r"\boffset\s+-?\w+", " ", text)
    for found in SELECTOR.finditer(text):
        # The tail of a number such as 1e9 begins with no letter of a name.
        if found["call"] or found["name"] in WORDS or text[max(0, found.start() - 1):found.start()].isdigit():
            continue
        yield found["name"], MATCHER.findall(found["matchers"] or "")


def faults_of_expression(where, expression, series):
    for name, matchers in selectors(expression):
        labels = series.get(name, PROMETHEUS_SERIES.get(name, False))
        if labels is False:
            yield f"{where}: no node tells {name}"
            continue
        if labels is None:
            continue
        for label, operator, value in matchers:
            if label in TARGET_LABELS:
                continue
            if label not in labels:
                yield f"{where}: {name} has no label {label}"
                continue
            # Of regular expressions only those are looked at that list values; `$` is a variable of the dashboard.
            values = value.split("|") if "~" in operator else [value]
            for value in values:
                if re.fullmatch(r"[\w ./-]*", value) and value not in labels[label]:
                    yield f'{where}: there is no {name}{{{label}="{value}"}}'


def faults_of_layout(panels):
    cells, numbers = {}, set()
    for panel in panels:
        title, grid = panel.get("title") or f"panel {panel.get('id')}", panel["gridPos"]
        if panel["id"] in numbers:
            yield f"{title}: another panel has id {panel['id']}"
        numbers.add(panel["id"])
        if grid["w"] < 1 or grid["h"] < 1 or grid["x"] < 0 or grid["x"] + grid["w"] > COLUMNS:
            yield f"{title}: does not fit into {COLUMNS} columns"
        for cell in itertools.product(range(grid["x"], grid["x"] + grid["w"]), range(grid["y"], grid["y"] + grid["h"])):
            other = cells.setdefault(cell, title)
            if other is not title:
                yield f"{title}: overlaps {other}"
                break


def faults_of_overrides(panel, series):
    """What is coloured must be a value of a label, a legend, or a column with a name of its own."""
    shown = {value for labels in series.values() for values in labels.values() for value in values}
    shown.update(target.get("legendFormat") for target in panel["targets"])
    for transformation in panel.get("transformations", []):
        options = transformation["options"]
        shown.update(options.get("renameByName", {}).values())
        # So does Grafana call the column of the rows.
        shown.add(f"{options.get('rowField')}\\{options.get('columnField')}")
    for override in panel["fieldConfig"]["overrides"]:
        matcher = override["matcher"]
        if matcher["id"] == "byName" and matcher["options"] not in shown:
            yield f"{panel['title']}: nothing is called {matcher['options']}"


def faults_of_panels(dashboard, series):
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    used = set(re.findall(r"\$\{?([A-Za-z]\w*)", json.dumps(dashboard)))
    for name in sorted(used - variables):
        yield f"${name} is no variable of the dashboard"
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            continue
        for key in ("title", "description", "targets"):
            if not panel.get(key):
                yield f"{panel.get('title') or panel['id']}: no {key}"
        if "unit" not in panel["fieldConfig"]["defaults"]:
            yield f"{panel['title']}: no unit"
        sources = [panel.get("datasource")] + [target.get("datasource") for target in panel["targets"]]
        if any((source or {}).get("uid") != "${datasource}" for source in sources):
            yield f"{panel['title']}: its data come from elsewhere than the variable `datasource`"
        yield from faults_of_overrides(panel, series)


def dashboard_expressions(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"{panel['title']} ({target['refId']})", target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield f"annotation {annotation['name']}", annotation["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            query = re.fullmatch(r"label_values\((.*), *\w+\)", variable["query"]["query"])
            yield f"variable {variable['name']}", query[1] if query else variable["query"]["query"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--metrics", required=True, metavar="FILE", nargs="+", help="what nodes told at /metrics")
    for name, text in [
        ("--rules", "the alerts"), ("--tests", "their tests"),
        ("--dashboard", "the dashboard"), ("--expressions", "rules to write, one for each expression of the dashboard"),
    ]:
        parser.add_argument(name, required=True, metavar="FILE", help=text)
    options = parser.parse_args()

    series, faults = live_series(options.metrics), []
    rules = rule_expressions(options.rules)
    tests = open(options.tests, encoding="utf-8").read()
    for alert, expression in rules.items():
        faults += faults_of_expression(alert, expression, series)
        if not re.search(rf"\b{alert}\b", tests):
            faults.append(f"{alert}: has no test")

    dashboard = json.load(open(options.dashboard, encoding="utf-8"))
    expressions = list(dashboard_expressions(dashboard))
    for where, expression in expressions:
        faults += faults_of_expression(where, expression, series)
    faults += faults_of_layout(dashboard["panels"])
    faults += faults_of_panels(dashboard, series)

    with open(options.expressions, "w", encoding="utf-8") as file:
        # JSON is YAML.
        whole = [re.sub(r"\$__\w+", "5m", expression) for _, expression in expressions]
        rules_of_dashboard = [
            {"record": f"dashboard:{number}", "expr": re.sub(r"\$\w+", ".*", expression)}
            for number, expression in enumerate(whole)
        ]
        json.dump({"groups": [{"name": "dashboard", "rules": rules_of_dashboard}]}, file)

    for fault in faults:
        print(f"prometheus: {fault}", file=sys.stderr)
    print(
        f"{len(series)} series names, {len(rules)} alerts, {len(dashboard['panels'])} panels with "
        f"{len(expressions)} expressions, {len(faults)} faults"
    )
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
