#!/usr/bin/env python3
"""A training step of Stoker's own networks at 224x224 beside Python PyTorch (channels last; eager, and compiled if asked).

Both compute on one batch that lies in memory, on all CPUs of the job, with momentum; interleaved rounds in one run, the median of each side's medians. Then
Stoker trains on real photographs, and the share of the time in which it waited for data is read from its results.
Exit status: 0 measured, 1 a side failed.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

# After `model`, `images` and `call`, which computes the logits, have been made; prints the median seconds of a step.
STEPS = """
labels = torch.randint(1000, (batch,))
optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
seconds = []
for step in range(-2, steps):
    start = time.perf_counter()
    optimiser.zero_grad()
    with torch.autocast("cpu", torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext():
        loss = torch.nn.functional.cross_entropy(call(images), labels)
    loss.backward()
    optimiser.step()
    if step >= 0:
        seconds.append(time.perf_counter() - start)
print(statistics.median(seconds))
"""

PYTHON = """
import contextlib, statistics, sys, time
import torch, torchvision
name, batch, precision, steps = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
torch.manual_seed(0)
model = getattr(torchvision.models, name)().to(memory_format=torch.channels_last).train()
call = torch.compile(model) if sys.argv[5] == "torch.compile" else model
images = torch.randn(batch, 3, 224, 224).contiguous(memory_format=torch.channels_last)
""" + STEPS


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr}")
    return done.stdout


def medians_of(commands, rounds):
    """Of what each command prints; commands take turns."""
    printed = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            printed[name].append(float(output_of(command)))
    return {name: statistics.median(values) for name, values in printed.items()}


def measure(options, model, precision):
    """Seconds of a step, by side."""
    words = [model, options.batch, precision, options.steps]
    sides = {"eager": [sys.executable, "-c", PYTHON, *words, "eager"]}
    if options.compile:
        sides["torch.compile"] = [sys.executable, "-c", PYTHON, *words, "torch.compile"]
    if options.before:
        sides["Stoker before"] = [options.before, *words]
    sides["Stoker"] = [options.step, *words]
    return medians_of(sides, options.rounds)


def wait_share(options, model, precision):
    """Of a real training, after the first epoch."""
    with tempfile.TemporaryDirectory(prefix="photo-step-") as scratch:
        output_of([options.stoker, "train", "--data", options.photos, "--aa", "imagenet-train", "--model", model, "-b", options.batch,
                   "--epochs", 2, "--output", scratch, "--experiment", "run", *(["--amp"] if precision == "bfloat16" else [])])
        with open(Path(scratch, "run", "results.csv"), encoding="utf-8") as file:
            last = list(csv.DictReader(file))[-1]
    return float(last["wait_share"]), float(last["samples_per_second"])


def main():
    data = Path(os.environ.get("STOKER_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoker", type=Path, default=REPOSITORY / "build/release/stoker")
    parser.add_argument("--step", type=Path, default=REPOSITORY / "build/release/bench/photo_step")
    parser.add_argument("--photos", type=Path, default=data / "flowers12")
    parser.add_argument("--before", type=Path, help="another photo_step to compare with")
    parser.add_argument("--models", nargs="+", default=["resnet18"])
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--compile", action="store_true", help="torch.compile too, which takes minutes a network")
    parser.add_argument("--only-steps", action="store_true", help="no training on photographs")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"seconds a step, batch {options.batch}; the last columns are Python's over Stoker's")
    header = None
    for model in options.models:
        for precision in options.precision:
            seconds = measure(options, model, precision)
            others = [side for side in seconds if side != "Stoker"]
            if header is None:
                header = f"| network | precision | {' | '.join(seconds)} | {' | '.join(f'over {side}' for side in others)} |"
                print(header + "\n|" + "---|" * (header.count("|") - 1), flush=True)
            ours = seconds["Stoker"]
            cells = [model, precision, *(f"{value:.2f}" for value in seconds.values()), *(f"{seconds[side] / ours:.2f}×" for side in others)]
            print(f"| {' | '.join(cells)} |", flush=True)
    if options.only_steps:
        return
    print()
    for model in options.models:
        for precision in options.precision:
            share, speed = wait_share(options, model, precision)
            print(f"{model} on {options.photos.name}, {precision}: {speed:.1f} samples/s, {100 * share:.2f} % of the time waiting for data")


if __name__ == "__main__":
    main()
