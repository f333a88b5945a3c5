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
    print("|  | samples/s | CPU s per 1,000 | cost |\n|---|---|---|---|")
    for workers in (1, 2):
        rates = {}
        for isolated in (False, True):
            runs = [r[workers, isolated] for r in rounds]
            rates[isolated] = statistics.median(run["samples_per_second"] for run in runs)
            cpu = statistics.median(run["cpu_seconds_per_1000"] for run in runs)
            costs = [1 - r[workers, True]["samples_per_second"] / r[workers, False]["samples_per_second"] for r in rounds]
            cost = f"{100 * (1 - rates[True] / rates[False]):.1f} % ({100 * min(costs):.1f} to {100 * max(costs):.1f})" if isolated else ""
            what = ("process" if isolated else "thread") + ("es" if isolated else "s") * (workers > 1)
            print(f"| {workers} {what} | {rates[isolated]:,.0f} | {cpu:.2f} | {cost} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoker", type=Path, default=REPOSITORY / "build/release/stoker")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=12, help="of each photograph")
    parser.add_argument("--epochs", type=int, default=1, help="of each run; in the first one, processes also map their memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="isolation-") as scratch:
        folder = Path(scratch, "photos")
        photos.lay_out(photos.find_photos(REPOSITORY), folder, options.copies)
        check_digests(options, folder)
        rounds = []
        for number in range(options.rounds):
            order = random.Random(number).sample(SIDES, len(SIDES))
            rounds.append({side: feed(options, folder, *side, ["--no-digest", "--epochs", str(options.epochs)]) for side in order})
    show(rounds)


if __name__ == "__main__":
    main()
