#!/usr/bin/env python3
"""What --isolate costs: photographs fed by threads and by locked-down processes, in turn.

The photographs and the policy of feed_jpeg.py. Medians over rounds that measure all sides in another order each; the digest must be
the same for all. Exit status: 0 measured, 1 a run failed or a digest differs.
"""

import argparse
import itertools
import json
import random
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from peers import photos

REPOSITORY = Path(__file__).resolve().parent.parent
SIDES = list(itertools.product((1, 2), (False, True)))  # workers, isolated


def children_cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def feed(options, folder, workers, isolated, extra):
    command = [str(options.stoker), "bench", "feed", "--data", str(folder), "--aa", "imagenet-train", "--json",
               "-j", str(workers), *extra, *(["--isolate"] if isolated else [])]
    before = children_cpu_seconds()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    report["cpu_seconds_per_1000"] = 1000 * (children_cpu_seconds() - before) / report["samples"]
    return report


def check_digests(options, folder):
    digests = {feed(options, folder, *side, [])["digest"] for side in SIDES}
    if len(digests) != 1:
        raise RuntimeError(f"the digests differ: {digests}")


def show(rounds):
    print(f"{'':24} {'samples/s':>9} {'CPU s/1,000':>12} {'cost':>7}")
    for workers in (1, 2):
        rates = {}
        for isolated in (False, True):
            runs = [r[workers, isolated] for r in rounds]
            rates[isolated] = statistics.median(run["samples_per_second"] for run in runs)
            cpu = statistics.median(run["cpu_seconds_per_1000"] for run in runs)
            cost = f"{100 * (1 - rates[True] / rates[False]):6.1f} %" if isolated else ""
            print(f"{workers} {'processes' if isolated else 'threads':22} {rates[isolated]:9.0f} {cpu:12.3f} {cost:>7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoker", type=Path, default=REPOSITORY / "build/release/stoker")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=12, help="of each photograph")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="isolation-") as scratch:
        folder = Path(scratch, "photos")
        photos.lay_out(photos.find_photos(REPOSITORY), folder, options.copies)
        check_digests(options, folder)
        rounds = []
        for number in range(options.rounds):
            order = random.Random(number).sample(SIDES, len(SIDES))
            rounds.append({side: feed(options, folder, *side, ["--no-digest"]) for side in order})
    show(rounds)


if __name__ == "__main__":
    main()
