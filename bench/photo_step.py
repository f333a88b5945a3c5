#!/usr/bin/env python3
"""A training step of ResNet-18 at 224x224, batch 32: Stoker beside Python PyTorch (eager, channels last), float32 and bfloat16.

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
call = model = getattr(torchvision.models, name)().to(memory_format=torch.channels_last).train()
images = torch.randn(batch, 3, 224, 224).contiguous(memory_format=torch.channels_last)
""" + STEPS


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr}")
    return done.stdout


def wait_share(options, precision):
    """Of a real training, after the first epoch."""
    with tempfile.TemporaryDirectory(prefix="photo-step-") as scratch:
        output_of([options.stoker, "train", "--data", options.photos, "--aa", "imagenet-train", "--model", options.model, "-b", options.batch,
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
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    arguments = {precision: [options.model, options.batch, precision, options.steps] for precision in ("float32", "bfloat16")}
    results = {(precision, side): [] for precision in arguments for side in ("Python", "Stoker")}
    for _ in range(options.rounds):
        for precision, words in arguments.items():
            results[precision, "Python"].append(float(output_of([sys.executable, "-c", PYTHON, *words])))
            results[precision, "Stoker"].append(float(output_of([options.step, *words])))
    medians = {key: statistics.median(seconds) for key, seconds in results.items()}
    print(f"{'':10} {'Python':>8} {'Stoker':>8} {'speed':>7}   {options.model}, batch {options.batch}, seconds a step")
    for precision in arguments:
        python, stoker = medians[precision, "Python"], medians[precision, "Stoker"]
        print(f"{precision:10} {python:8.3f} {stoker:8.3f} {python / stoker:6.2f}x")
    print(f"bfloat16 over float32: Python {medians['float32', 'Python'] / medians['bfloat16', 'Python']:.2f}x, "
          f"Stoker {medians['float32', 'Stoker'] / medians['bfloat16', 'Stoker']:.2f}x")
    for precision in arguments:
        share, speed = wait_share(options, precision)
        print(f"training on {options.photos.name}, {precision}: {speed:.1f} samples/s, {100 * share:.2f} % of the time waiting for data")


if __name__ == "__main__":
    main()
