#!/usr/bin/env python3
"""How step time would grow with the number of ranks: a model, checked where it can be.

Measured here: forward and backward of ResNet-18 (one rank, one thread), when each bucket of gradients is ready in the backward
pass, and what a sum of 47 MB costs between 2, 3 and 4 ranks of this machine.

The model: buckets are summed one after the other, each from when it is ready; a ring over N ranks moves 2 (N - 1) / N of a bucket's
bytes through each rank's link and waits 2 (N - 1) times for the way there:

    sum(bytes, N) = 2 (N - 1) / N * bytes / speed + 2 (N - 1) * latency
    step(N)       = max(forward + backward, end of the last sum) + optimiser

The check: with speed and latency of this machine's loopback fitted to sums alone, it predicts the overlapped step of 2, 3 and 4 ranks,
which is then measured. Compute is measured with as many ranks running, because they share two cores.

What it leaves out: slow ranks, other traffic, switches that are oversubscribed, and reading the data.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
LINKS = (25, 100, 400)  # Gb/s
RANKS = (8, 32, 128, 512, 1024)
LATENCY = 20e-6  # seconds from rank to rank, as TCP in one data centre has it: assumed
EFFICIENCY = 0.8  # of a link's speed that TCP reaches: assumed


def run(options, ranks, *words):
    """JSON of rank 0, each side started as a launcher would."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(ranks),
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        command = [options.step, options.model, options.batch, options.steps, *words]
        processes.append(subprocess.Popen([str(word) for word in command], env=environment, stdout=subprocess.PIPE, text=True))
    text = processes[0].communicate()[0]
    if any(process.wait() for process in processes):
        raise RuntimeError(f"{words} with {ranks} ranks failed")
    return json.loads(text)


def sum_seconds(size, ranks, speed, latency):
    return 2 * (ranks - 1) / ranks * size / speed + 2 * (ranks - 1) * latency


def end_of_sums(buckets, ranks, speed, latency):
    """Since the backward pass began."""
    end = 0.0
    for size, ready in buckets:
        end = max(end, ready) + sum_seconds(size, ranks, speed, latency)
    return end


def step_seconds(measured, ranks, speed, latency, faster=1.0):
    forward, backward, rest = (measured[key] / faster for key in ("forward", "backward", "rest"))
    buckets = [(size, ready / faster) for size, ready in measured["buckets"]]
    return forward + max(backward, end_of_sums(buckets, ranks, speed, latency)) + rest


def compute_of(options, ranks):
    """Of one rank, while so many run: without sums, then where in the backward pass buckets become ready."""
    none, overlap = run(options, ranks, "none"), run(options, ranks, "overlap")
    share = [(size, ready / overlap["buckets"][-1][1]) for size, ready, _ in overlap["buckets"]]
    # The last bucket is ready when the backward pass is over; the optimiser takes what is left.
    backward = (none["step"] - none["forward"]) * 0.97
    return {"forward": none["forward"], "backward": backward, "rest": none["step"] - none["forward"] - backward, "step": none["step"],
            "buckets": [(size, part * backward) for size, part in share]}, overlap


def check(options):
    print(f"{options.model}, {options.batch} samples a rank, one thread a rank, on this machine ({os.cpu_count()} CPUs)\n")
    print("| ranks | compute alone, ms | one sum after the pass, ms | MB/s of it | overlapped: model, ms | measured, ms | off by |")
    print("|---|---|---|---|---|---|---|")
    for ranks in (2, 3, 4):
        compute, overlaps, sums = [], [], []
        for _ in range(options.rounds):
            one, overlap = compute_of(options, ranks)
            compute.append(one)
            overlaps.append(overlap)
            sums.append(run(options, ranks, "after"))
        middle = sorted(compute, key=lambda c: c["step"])[len(compute) // 2]
        size, seconds = sums[0]["bytes"], statistics.median(s["reduction"] for s in sums)
        speed = 2 * (ranks - 1) / ranks * size / seconds  # latency is nothing beside 47 MB
        model = step_seconds(middle, ranks, speed, 0.0)
        found = statistics.median(o["step"] for o in overlaps)
        print(f"| {ranks} | {1e3 * middle['step']:.0f} | {1e3 * seconds:.0f} | {speed / 1e6:.0f} | {1e3 * model:.0f} | {1e3 * found:.0f} | "
              f"{100 * (model / found - 1):+.0f} % |")


def project(measured, faster, title):
    print(f"\n{title}: compute {1e3 * measured['step'] / faster:.1f} ms a step; milliseconds a step, and what is left of linear scaling\n")
    print("| ranks | " + " | ".join(f"{link} Gb/s" for link in LINKS) + " |\n|---" * 1 + "|---" * len(LINKS) + "|")
    for ranks in RANKS:
        cells = []
        for link in LINKS:
            step = step_seconds(measured, ranks, EFFICIENCY * link * 1e9 / 8, LATENCY, faster)
            cells.append(f"{1e3 * step:.1f} ({100 * measured['step'] / faster / step:.0f} %)")
        print(f"| {ranks} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=Path, default=REPOSITORY / "build/release/bench/ddp_step")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--batch", type=int, default=8, help="of one rank")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    check(options)
    alone, _ = compute_of(options, 2)  # two cores, two ranks: each has one to itself
    print("\nbuckets: " + ", ".join(f"{size / 1e6:.1f} MB ready after {100 * ready / alone['backward']:.0f} % of the backward pass"
                                  for size, ready in alone["buckets"]))
    project(alone, 1.0, "One core a rank, as measured")
    project(alone, 100.0, "A device a hundred times as fast (assumed)")


if __name__ == "__main__":
    main()
