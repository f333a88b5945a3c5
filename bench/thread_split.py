#!/usr/bin/env python3
"""Whether the default split of CPUs between feed workers and LibTorch's threads is the best one here.

Trains both networks of bench/train_fashion.py with every split of up to 2 and 2 and with the default, in turn, each round
in another order, and prints medians of samples a second. Status 1 where the default is more than 5 % from the best.

    bench/thread_split.py [--rounds 5] [--stoker build/release/stoker]
"""

import argparse
import csv
import itertools
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = {"mlp:784,128,10": ("--epochs", "4"), "cnn:small": ("--epochs", "2", "--batches-per-epoch", "300")}
SPLITS = {"default": ()} | {f"{workers} + {threads}": ("-j", workers, "--threads", threads)
                            for workers, threads in itertools.product("12", "12")}


def speed(stoker, network, split):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([stoker, "train", "--data", "fashion-mnist", "--aa", "mnist", "--model", network, "--output", folder,
                        "--experiment", "run", *NETWORKS[network], *SPLITS[split]], capture_output=True, check=True)
        with open(pathlib.Path(folder, "run", "results.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))[1:]
    return statistics.median(float(row["samples_per_second"]) for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default=ROOT / "build" / "release" / "stoker", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    options = parser.parse_args()
    worst = 1.0
    print("| network | " + " | ".join(SPLITS) + " | default of best |\n|---" * 1 + "|---" * (len(SPLITS) + 1) + "|")
    for network in NETWORKS:
        found = {split: [] for split in SPLITS}
        for turn in range(options.rounds):
            names = list(SPLITS)
            for split in names[turn % len(names):] + names[:turn % len(names)]:
                found[split].append(speed(options.stoker, network, split))
        medians = {split: statistics.median(values) for split, values in found.items()}
        share = medians["default"] / max(medians.values())
        worst = min(worst, share)
        print(f"| `{network}` | " + " | ".join(f"{value:,.0f}" for value in medians.values()) + f" | {100 * share:.0f} % |",
              flush=True)
    sys.exit(0 if worst >= 0.95 else 1)


if __name__ == "__main__":
    main()
