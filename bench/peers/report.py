"""The results as a table (plain or markdown) and as JSON."""

import os
import platform
from importlib import metadata
from pathlib import Path

from .check import FIGURES
from .measure import setting_words

PACKAGES = ["numpy", "scipy", "pillow", "torch", "torchvision", "nvidia-dali-cuda130"]


def machine():
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    models = [line.split(":", 1)[1].strip() for line in info.splitlines() if "model name" in line]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def versions():
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def ratio(results, result):
    """Stoker's median over this side's, with the same number of workers; None without Stoker."""
    for other in results:
        if other.side.letter == "s" and other.workers == result.workers:
            return other.median / result.median
    return None


def rate_table(results, workers):
    """Rows of cells: a header, then one row per side."""
    header = ["", "side"]
    for count in workers:
        unit = "1 worker" if count == 1 else f"{count} workers"
        header += [f"samples/s, {unit} (min–max)", "Stoker is"]
    header += ["asked", f"{workers[-1]} against {workers[0]}"]
    rows = [header]
    for side in dict.fromkeys(result.side for result in results):
        own = {r.workers: r for r in results if r.side is side}
        row = [side.letter, side.name]
        for count in workers:
            row += _rate_cells(results, own[count])
        asked = f"≥ {side.asked}×" if side.asked else ""
        rows.append(row + [asked, f"{own[workers[-1]].median / own[workers[0]].median:.2f}×"])
    return rows


def _rate_cells(results, result):
    times = ratio(results, result)
    spread = f"{min(result.rates):,.0f}–{max(result.rates):,.0f}"
    own = result.side.letter == "s" or times is None
    return [f"{result.median:,.0f} ({spread})", "" if own else f"{times:.1f}×"]


def setting_lines(results):
    """What each peer was at its best with."""
    return [f"{r.name}: {setting_words(r.setting)}" for r in results if r.setting]


def look_table(looks):
    rows = [["side", *FIGURES]]
    for look in looks:
        rows.append([look.name] + [f"{getattr(look, figure):.4f}" for figure in FIGURES])
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
            "workers": result.workers,
            "setting": result.setting,
            "samples_per_second": result.rates,
            "median": result.median,
            "min": min(result.rates),
            "max": max(result.rates),
            "stoker_over_side": ratio(results, result),
            "notes": [notes for notes in result.notes if notes],
        }
        for result in results
    ]
    return about | {"looks": [vars(look) for look in looks], "results": sides}
