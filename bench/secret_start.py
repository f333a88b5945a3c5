#!/usr/bin/env python3
"""What a shared secret costs: two ranks that train a small network for 20 steps, with and without --dist-secret-file, in turn.

    bench/record.py secret_start bench/secret_start.py

Nearly all of such a run is its start, where the ranks meet. Medians over rounds that run both sides in another order each; the weights
must be the same. Exit status: 0 measured, 1 a run failed or the weights differ.
"""

import argparse
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
os.environ.setdefault("STOKER", str(REPOSITORY / "build/release/stoker"))
sys.path.insert(0, str(REPOSITORY / "tests"))
import ranks  # noqa: E402

FLAGS = ["train", "--data", "mnist", "--train-samples", "1000", "--val-data", "mnist:train[50000:50050]", "--model", "mlp:784,16,10:relu",
         "--batch-size", "50", "--epochs", "1", "--threads", "1", "--workers", "1", "--no-report", "--seed", "1"]


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(scratch, name, words):
    before, start = cpu_seconds(), time.monotonic()
    ranks.train(2, *FLAGS, *words, "--output", scratch, "--experiment", name)
    return time.monotonic() - start, cpu_seconds() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    taken = {"without a secret": [], "with a secret": []}
    with tempfile.TemporaryDirectory(prefix="secret-start-") as scratch:
        scratch = Path(scratch)
        secret = scratch / "secret"
        secret.write_text("a secret of thirty-two bytes, or more\n", encoding="utf-8")
        secret.chmod(0o600)
        for number in range(options.rounds):
            for side in random.Random(number).sample(list(taken), len(taken)):
                words = ["--dist-secret-file", secret] if side == "with a secret" else []
                taken[side].append(run(scratch, f"{side.replace(' ', '-')}-{number}", words))
        if len({ranks.weights(folder) for folder in scratch.iterdir() if folder.is_dir()}) != 1:
            raise RuntimeError("the weights differ")
    print("|  | seconds (min–max) | CPU seconds (min–max) |\n|---|---|---|")
    for side, runs in taken.items():
        cells = [f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})" for values in zip(*runs)]
        print(f"| {side} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
