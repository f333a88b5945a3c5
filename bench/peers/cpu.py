"""CPU time and memory of a process and of all that it started, from /proc."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")  # a second


def tree_cpu_seconds():
    """User and system time of this process and its descendants, those that have ended too."""
    found = _processes()
    return sum(found[pid][1] for pid in _tree(found))


def tree_pss_megabytes():
    """Proportional set size of this process and its descendants: a shared page counts once."""
    return sum(_pss_kilobytes(pid) for pid in _tree(_processes())) / 1024


def descendants():
    """Process ids below this one."""
    return _tree(_processes())[1:]


def _processes():
    """pid: (parent, CPU seconds)."""
    found = dict(_read(folder) for folder in Path("/proc").glob("[0-9]*"))
    found.pop(None, None)  # ended while we looked
    return found


def _tree(found):
    children = {}
    for pid, (parent, _) in found.items():
        children.setdefault(parent, []).append(pid)
    tree = [os.getpid()]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


def _pss_kilobytes(pid):
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0  # ended while we looked
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


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
