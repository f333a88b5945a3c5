"""CPU time of a process and of all that it started, from /proc."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")  # a second


def tree_cpu_seconds():
    """User and system time of this process and its descendants, those that have ended too."""
    found = dict(_read(folder) for folder in Path("/proc").glob("[0-9]*"))
    found.pop(None, None)  # ended while we looked
    children = {}
    for pid, (parent, _) in found.items():
        children.setdefault(parent, []).append(pid)
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        pid = waiting.pop()
        total += found[pid][1]
        waiting += children.get(pid, [])
    return total


def _read(folder):
    """(pid, (parent, seconds)) of a process."""
    try:
        text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None, None
    # The name in brackets may hold anything; the numbers behind it start with the third field.
    fields = text.rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:15]))  # utime, stime, and both of the children waited for
    return int(folder.name), (int(fields[1]), ticks / TICKS)
