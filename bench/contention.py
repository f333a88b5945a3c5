#!/usr/bin/env python3
"""Training beside busy processes: samples/s of cnn:small on Fashion-MNIST alone, beside one and beside two busy loops.

Sides: Stoker as it was (libgomp's default of 300,000 spins, given explicitly), Stoker as it is (it sets 10,000 spins
itself), and Python PyTorch with the same network, as it is and with 10,000 spins. All sides are measured in turn, each
round in another order; cells are medians. A measurement is repeated where other guests of the host took more than
--steal of the CPUs meanwhile (/proc/stat). Prints a Markdown table.

    /opt/stoker-bench/bin/python bench/contention.py [--rounds 5]
"""

import argparse
import csv
import ctypes
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOOPS = (0, 1, 2)
DEFAULT_SPINS = "300000"  # libgomp's, where neither GOMP_SPINCOUNT nor OMP_WAIT_POLICY is set


def environment(spins):
    plain = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    return plain if spins is None else {**plain, "GOMP_SPINCOUNT": spins}


def checked(command, spins):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(spins))
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def stoker(options, spins):
    with tempfile.TemporaryDirectory() as folder:
        checked([options.stoker, "train", "--data", "fashion-mnist", "--aa", "mnist", "--model", "cnn:small", "--epochs",
                 "1", "--batches-per-epoch", str(options.batches), "--output", folder, "--experiment", "run",
                 "--no-report"], spins)
        with open(pathlib.Path(folder, "run", "results.csv"), encoding="utf-8") as file:
            return float(list(csv.DictReader(file))[-1]["samples_per_second"])


def python(options, spins):
    settings = {"workers": options.python_workers, "threads": options.python_threads, "kind": "tensor",
                "channels_last": True, "samples": 64 * options.batches}
    return float(checked([options.python, pathlib.Path(__file__).with_name("train_python.py"), "cnn",
                          json.dumps(settings)], spins))


def die_with_parent():
    """A loop must not outlive a killed test: PR_SET_PDEATHSIG is 1."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class BusyLoops:
    """In sessions of their own, as other users' work is."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True, preexec_fn=die_with_parent)
                      for _ in range(self.count)]

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


def cpu_times():
    """All of them, and the part that other guests took."""
    times = [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]]
    return sum(times), times[7]


def undisturbed(options, side):
    """The first result that the host did not disturb, else that of the quietest try."""
    tries = []
    while not tries or (tries[-1][0] > options.steal and len(tries) < options.tries):
        total, stolen = cpu_times()
        speed = side()
        total_after, stolen_after = cpu_times()
        tries.append(((stolen_after - stolen) / (total_after - total), speed))
    return min(tries)


def measure(options):
    """Samples a second of every round, by side and number of loops."""
    sides = {"Stoker, before (300,000 spins)": lambda: stoker(options, DEFAULT_SPINS),
             "Stoker": lambda: stoker(options, None),
             "Python PyTorch": lambda: python(options, None),
             "Python PyTorch, `GOMP_SPINCOUNT=10000`": lambda: python(options, "10000")}
    if options.no_python:
        sides = {name: side for name, side in sides.items() if "Python" not in name}
    tries = [(name, loops) for loops in LOOPS for name in sides]
    found = {each: [] for each in tries}
    for turn in range(options.rounds):
        shift = turn * len(tries) // options.rounds
        for name, loops in tries[shift:] + tries[:shift]:
            with BusyLoops(loops):
                stolen, speed = undisturbed(options, sides[name])
            found[name, loops].append(speed)
            print(f"round {turn + 1}: {name}, {loops} loops: {speed:,.0f}, {100 * stolen:.1f} % stolen", file=sys.stderr,
                  flush=True)
    return list(sides), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default=ROOT / "build" / "release" / "stoker", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="with torch and torchvision")
    parser.add_argument("--no-python", action="store_true", help="measure Stoker alone")
    parser.add_argument("--python-workers", default=1, type=int)
    parser.add_argument("--python-threads", default=len(os.sched_getaffinity(0)), type=int)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--batches", default=150, type=int, help="of 64 samples, in each measurement")
    parser.add_argument("--steal", default=0.01, type=float, help="share of the CPUs that others may take")
    parser.add_argument("--tries", default=4, type=int, help="at most, where they take more")
    options = parser.parse_args()
    sides, found = measure(options)
    print("| samples/s (min–max) | alone | beside one busy loop | beside two |")
    print("|---|---|---|---|")
    for name in sides:
        alone = statistics.median(found[name, 0])
        cells = []
        for loops in LOOPS:
            speeds = found[name, loops]
            middle = statistics.median(speeds)
            part = "" if loops == 0 else f", {100 * middle / alone:.0f} % of alone"
            cells.append(f"{middle:,.0f} ({min(speeds):,.0f}–{max(speeds):,.0f}){part}")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
