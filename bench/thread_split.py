#!/usr/bin/env python3
"""Whether the default split of CPUs between feed workers and LibTorch's threads is the best one here.

Trains both networks of bench/train_fashion.py with every split of up to 2 and 2, in turn, each round in another order, and
prints medians of samples a second; the split that the program takes by itself is marked. Status 1 where that one is more than
5 % from the best.

    bench/thread_split.py [--rounds 5] [--stoker build/release/stoker]
"""

import argparse
import csv
import itertools
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = {"mlp:784,128,10": ("--epochs", "6"), "cnn:small": ("--epochs", "2", "--batches-per-epoch", "150")}
SPLITS = list(itertools.product((1, 2), (1, 2)))  # workers, threads


def train(stoker, network, *arguments):
    """The median speed of the epochs after the first, and the settings that were used."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([stoker, "train", "--data", "fashion-mnist", "--aa", "mnist", "--model", network, "--output", folder,
                        "--experiment", "run", *arguments], capture_output=True, check=True)
        with open(pathlib.Path(folder, "run", "results.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        settings = pathlib.Path(folder, "run", "args.yaml").read_text(encoding="utf-8")
    used = tuple(int(re.search(rf"(?m)^{name}: (\d+)$", settings).group(1)) for name in ("workers", "threads"))
    return statistics.median(float(row["samples_per_second"]) for row in rows[-len(rows) // 2:]), used


def default_split(stoker, network):
    return train(stoker, network, "--epochs", "1", "--batches-per-epoch", "1")[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default=ROOT / "build" / "release" / "stoker", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    options = parser.parse_args()
    worst = 1.0
    print("| network | " + " | ".join(f"{w} workers, {t} threads" for w, t in SPLITS) + " | default of best |")
    print("|---" * (len(SPLITS) + 2) + "|")
    for network, length in NETWORKS.items():
        found = {split: [] for split in SPLITS}
        for turn in range(options.rounds):
            for workers, threads in SPLITS[turn % len(SPLITS):] + SPLITS[:turn % len(SPLITS)]:
                speed, used = train(options.stoker, network, *length, "-j", str(workers), "--threads", str(threads))
                found[used].append(speed)
        medians = {split: statistics.median(values) for split, values in found.items()}
        chosen = default_split(options.stoker, network)
        share = medians[chosen] / max(medians.values())
        worst = min(worst, share)
        cells = (f"**{value:,.0f}**" if split == chosen else f"{value:,.0f}" for split, value in medians.items())
        print(f"| `{network}` | " + " | ".join(cells) + f" | {100 * share:.0f} % |", flush=True)
    sys.exit(0 if worst >= 0.95 else 1)


if __name__ == "__main__":
    main()
