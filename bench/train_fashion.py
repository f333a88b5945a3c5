#!/usr/bin/env python3
"""An epoch of augmented Fashion-MNIST training: Stoker beside Python PyTorch with a torchvision DataLoader.

Both train the same two networks with the same batches of 64 and the same optimiser. Python gets its best number of
loader workers and of torch threads, its better image type and memory format, found in a short search before; Stoker
has its defaults. A third side is the limit: LibTorch on batches that lie in memory already (bench/train_limit). All
sides are measured in turn, each round in another order; ratios are those of medians.

    build/bench-venv/bin/python bench/train_fashion.py [--rounds 5]
"""

import argparse
import csv
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = {"mlp": "mlp:784,128,10", "cnn": "cnn:small"}
TRIAL_SAMPLES = 8_000


def stoker(options, network):
    """Samples a second of the second epoch: everything is warm then."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([options.stoker, "train", "--data", "fashion-mnist", "--aa", "mnist", "--model",
                               NETWORKS[network], "--epochs", "2", "--output", folder, "--experiment", "run"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        with open(pathlib.Path(folder, "run", "results.csv"), encoding="utf-8") as file:
            row = list(csv.DictReader(file))[-1]
    return float(row["samples_per_second"]), float(row["wait_share"])


def limit(options, network):
    done = subprocess.run([options.limit, NETWORKS[network]], capture_output=True, text=True, check=True)
    return float(done.stdout)


def python(network, settings, samples=60_000):
    """Each measurement in a process of its own."""
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("train_python.py"), network,
                           json.dumps({**settings, "samples": samples})], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return float(done.stdout)


def best_settings(network):
    tries = [{"workers": workers, "threads": threads, "kind": kind, "channels_last": last}
             for workers, threads, kind, last in itertools.product((0, 1, 2), (1, 2), ("PIL", "tensor"), (False, True))
             if network == "cnn" or not last]
    speeds = [python(network, settings, TRIAL_SAMPLES) for settings in tries]
    best = max(range(len(tries)), key=speeds.__getitem__)
    print(f"{network}: Python's best of {len(tries)}: {tries[best]}", file=sys.stderr)
    return tries[best]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default=ROOT / "build" / "release" / "stoker", type=pathlib.Path)
    parser.add_argument("--limit", default=ROOT / "build" / "release" / "bench" / "train_limit", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    options = parser.parse_args()
    print("| network | Stoker, samples/s (min–max) | data wait | Python (min–max) | Stoker's speed-up | in memory | Stoker as a fraction of in memory |")
    print("|---|---|---|---|---|---|---|")
    for network in NETWORKS:
        settings = best_settings(network)
        sides = {"stoker": lambda n=network: stoker(options, n), "limit": lambda n=network: limit(options, n),
                 "python": lambda n=network, s=settings: python(n, s)}
        found = {name: [] for name in sides}
        for turn in range(options.rounds):
            names = list(sides)
            for name in names[turn % 3:] + names[:turn % 3]:
                found[name].append(sides[name]())
        ours = [speed for speed, _ in found["stoker"]]
        waited = statistics.median(wait for _, wait in found["stoker"])
        mine, theirs, most = map(statistics.median, (ours, found["python"], found["limit"]))
        print(f"| {network} `{NETWORKS[network]}` | {mine:,.0f} ({min(ours):,.0f}–{max(ours):,.0f}) | {100 * waited:.2f} % | "
              f"{theirs:,.0f} ({min(found['python']):,.0f}–{max(found['python']):,.0f}) | {mine / theirs:.2f}× | "
              f"{most:,.0f} | {100 * mine / most:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
