"""The results as a table (plain or markdown) and as JSON."""

import os
import platform
from importlib import metadata
from pathlib import Path

from .measure import setting_words

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements.txt"


def machine():
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    models = [line.split(":", 1)[1].strip() for line in info.splitlines() if "model name" in line]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def packages():
    """Those that are pinned."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [line.split("==")[0] for line in lines if "==" in line and not line.startswith("#")]


def versions():
    found = {}
    for package in packages():
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def ratio(results, result):
    """Stoker's median over this side's: same number of workers, same kind; None without Stoker."""
    for other in results:
        same = other.workers == result.workers and other.side.like == result.side.like
        if other.side.letter == "s" and same:
            return other.median / result.median
    return None


def rate_table(results, workers):
    """Rows of cells: a header, then one row per side."""
    with_kind = any(result.side.antialias for result in results)
    with_cpu = all(result.cpu is not None for result in results)
    with_memory = all(result.memory is not None for result in results)
    header = ["", "program"] + ["antialias"] * with_kind
    for count in workers:
        unit = "1 worker" if count == 1 else f"{count} workers"
        header += [f"samples/s, {unit} (min–max)"] + ["CPU s per 1,000"] * with_cpu
        header += ["MB"] * with_memory + ["Stoker's speed-up"]
    header += ["target", f"{workers[-1]} workers over {workers[0]}"]
    rows = [header]
    for side in dict.fromkeys(result.side for result in results):
        own = {r.workers: r for r in results if r.side is side}
        row = [side.letter, side.name] + [side.antialias or ""] * with_kind
        for count in workers:
            row += _rate_cells(results, own[count], with_cpu, with_memory)
        asked = f"≥ {side.asked}×" if side.asked else ""
        rows.append(row + [asked, f"{own[workers[-1]].median / own[workers[0]].median:.2f}×"])
    return rows


def _rate_cells(results, result, with_cpu, with_memory):
    times = ratio(results, result)
    cells = [f"{result.median:,.0f} ({min(result.rates):,.0f}–{max(result.rates):,.0f})"]
    if with_cpu:
        cells.append(f"{result.cpu:.2f}" if result.cpu >= 0.1 else f"{result.cpu:.2g}")
    if with_memory:
        cells.append(f"{result.memory:,.0f}")
    if result.side.letter == "s" or times is None:
        return cells + [""]
    return cells + [f"{times:.1f}×" if times >= 10 else f"{times:.2f}×"]


def setting_lines(results):
    """What each peer was at its best with."""
    return [f"{r.name}: {setting_words(r.setting)}" for r in results if r.setting]


def look_table(looks):
    """Every number that the looks have."""
    figures = [key for key, value in vars(looks[0]).items() if isinstance(value, float)]
    rows = [["program", *figures]]
    for look in looks:
        rows.append([look.name] + [f"{getattr(look, figure):.4f}" for figure in figures])
    return rows


def format_table(rows, markdown):
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths)] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def as_json(results, looks, about):
    sides = [
        {
            "side": result.side.letter,
            "name": result.side.name,
            "antialias": result.side.antialias,
            "workers": result.workers,
            "setting": result.setting,
            "samples_per_second": result.rates,
            "median": result.median,
            "min": min(result.rates),
            "max": max(result.rates),
            "cpu_seconds_per_1000": result.cpu,
            "megabytes": result.memory,
            "stoker_over_side": ratio(results, result),
            "notes": [notes for notes in result.notes if notes],
        }
        for result in results
    ]
    return about | {"looks": [vars(look) for look in looks], "results": sides}
