"""Files of figures: what a benchmark measured, when, where and at which commit. scripts/figures writes them into docs/."""

import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def _first_value(path, key):
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(key):
            return line.partition(":")[2].strip()
    return "unknown"


def machine():
    """In words: cores, processor with what matters of its instructions, memory."""
    flags = _first_value("/proc/cpuinfo", "flags").split()
    known = [flag for flag in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile") if flag in flags]
    memory = int(_first_value("/proc/meminfo", "MemTotal").split()[0]) // 2**20
    return f"{len(os.sched_getaffinity(0))} cores, {_first_value('/proc/cpuinfo', 'model name')} ({', '.join(known)}), {memory} GiB, {platform.machine()}"


def commit():
    """Of the sources; with a plus where they were changed since."""
    def git(*words):
        return subprocess.run(["git", "-C", REPOSITORY, *words], capture_output=True, text=True, check=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")


def append(path, results, command=None):
    """One more measurement in the file, which keeps those before it; the command is that of this process where none is given."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    command = command or " ".join(["bench/" + Path(sys.argv[0]).name, *sys.argv[1:]])
    kept.append({"date": datetime.date.today().isoformat(), "commit": commit(), "machine": machine(), "command": command, "results": results})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
