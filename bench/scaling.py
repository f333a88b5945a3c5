#!/usr/bin/env python3
"""How `stoker bench feed` scales with the number of workers: interleaved rounds, medians.

    python3 bench/scaling.py [--workers 1,2] [--rounds 15] [--stoker build/release/stoker] [-- FLAGS …]

Flags after `--` go to the program; the default is Fashion-MNIST with the preset mnist, 20 epochs.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def measure(program, workers, flags):
    command = [program, "bench", "feed", "--json", "--no-digest", "--workers", str(workers), *flags]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["samples_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2", help="numbers of workers; the first is the base")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--stoker", default=str(ROOT / "build" / "release" / "stoker"))
    parser.add_argument("flags", nargs="*")
    arguments = parser.parse_args()
    flags = arguments.flags or ["--data", "fashion-mnist", "--aa", "mnist", "--epochs", "20"]
    rates = {int(number): [] for number in arguments.workers.split(",")}
    for _ in range(arguments.rounds):
        for workers, figures in rates.items():
            figures.append(measure(arguments.stoker, workers, flags))
    base = statistics.median(next(iter(rates.values())))
    print("| workers | samples/s, median (min–max) | against the first |\n|---|---|---|")
    for workers, figures in rates.items():
        middle = statistics.median(figures)
        print(f"| {workers} | {middle:,.0f} ({min(figures):,.0f}–{max(figures):,.0f}) | {middle / base:.2f}× |")


if __name__ == "__main__":
    main()
