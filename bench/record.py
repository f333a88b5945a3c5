#!/usr/bin/env python3
"""Runs a benchmark and keeps the tables that it prints, with date, machine and commit, in bench/results.

    bench/record.py NAME COMMAND…                  the last table, into bench/results/NAME.json
    bench/record.py NAME:FIRST,SECOND COMMAND…     the last two, under these names

A file keeps the measurements before; scripts/figures writes the last of each table into docs/. Exit status: that of the command.
"""

import shlex
import subprocess
import sys

import results


def tables_of(text):
    """Markdown tables as rows of cells; the line of dashes is left out."""
    tables, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not all(cell and set(cell) <= {"-", ":"} for cell in cells):
                rows.append(cells)
        elif rows:
            tables.append(rows)
            rows = []
    return tables


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    (name, _, keys), command = sys.argv[1].partition(":"), sys.argv[2:]
    keys = keys.split(",")
    if command[0].endswith(".py"):
        command = [sys.executable, *command]
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            print(line, end="", flush=True)
            printed.append(line)
    if running.returncode:
        sys.exit(running.returncode)
    tables = tables_of("".join(printed))
    if len(tables) < len(keys):
        sys.exit(f"{sys.argv[2]} printed {len(tables)} tables, {len(keys)} were expected")
    path = results.REPOSITORY / "bench" / "results" / f"{name}.json"
    results.append(path, dict(zip(keys, tables[-len(keys):])), shlex.join(sys.argv[2:]))


if __name__ == "__main__":
    main()
