#!/usr/bin/env python3
"""Several labels per image: Stoker beside the same network in PyTorch, on a table with planted labels, 3 seeds.

The images and the table are those of tests/tasks_test.py. Both sides train cnn:small (three stages of convolution, max
pooling, batch norm and ReLU; a linear head) with binary cross entropy, Adam, the cosine schedule and the same batch
size. Initial weights have the same distributions; they and the orders differ, so the mean average precisions on the test
part are compared with their spread.
Prints one line a seed and a summary. Exit status: 0 Stoker's mean lies within the spread of Python's seeds or above it, 1 not.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy
import torch
from PIL import Image

CHANNELS = (16, 48, 128)
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))


def read(table):
    parts = {"train": ([], []), "val": ([], []), "test": ([], [])}
    for row in table.read_text(encoding="utf-8").splitlines()[1:]:
        path, *labels, part = row.split(",")
        pixels = numpy.asarray(Image.open(table.parent / path).convert("RGB"), dtype=numpy.float32) / 255
        parts[part][0].append(pixels.transpose(2, 0, 1))
        parts[part][1].append([float(label) for label in labels])
    return {name: (torch.tensor(numpy.array(x)), torch.tensor(y)) for name, (x, y) in parts.items()}


def network(side, classes):
    """cnn:small, with initial weights of the same distributions."""
    layers, inputs = [], 3
    for number, outputs in enumerate(CHANNELS):
        layers.append(torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False))
        torch.nn.init.kaiming_uniform_(layers[-1].weight)
        if number < 2:
            layers.append(torch.nn.MaxPool2d(2))
        layers += [torch.nn.BatchNorm2d(outputs), torch.nn.ReLU()]
        inputs = outputs
    left = min(7, side // 4)
    head = torch.nn.Linear(inputs * left * left, classes)  # uniform in ± 1 / sqrt(inputs), as ours
    torch.nn.init.zeros_(head.bias)
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(left), torch.nn.Flatten(), head)


def average_precision(scores, truth):
    precisions = []
    for c in range(truth.shape[1]):
        hits = truth[numpy.argsort(-scores[:, c], kind="stable"), c]
        precisions.append((hits.cumsum() / numpy.arange(1, len(hits) + 1))[hits == 1].mean())
    return float(numpy.mean(precisions))


def train_python(parts, options, seed):
    torch.manual_seed(seed)
    torch.set_num_threads(2)
    x, y = parts["train"]
    model = network(x.shape[-1], y.shape[1])
    optimiser = torch.optim.Adam(model.parameters(), lr=options.lr)
    steps = options.epochs * math.ceil(len(x) / options.batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    best = (-1.0, None)
    for _ in range(options.epochs):
        model.train()
        for chosen in torch.randperm(len(x)).split(options.batch_size):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x[chosen]), y[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        model.eval()
        with torch.no_grad():
            found = {name: average_precision(model(parts[name][0]).numpy(), parts[name][1].numpy()) for name in ("val", "test")}
        best = max(best, (found["val"], found["test"]))
    return best[1]


def train_stoker(program, table, classes, options, seed, folder):
    subprocess.run([program, "train", str(table), "--labels", ",".join(classes), "--model", "cnn:small", "--aa", f"resize({options.side},{options.side})",
                    "--opt", "adam", "--lr", str(options.lr), "--batch-size", str(options.batch_size), "--epochs", str(options.epochs), "--seed",
                    str(seed), "--no-report", "--experiment", f"seed{seed}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / f"runs/seed{seed}/run.json").read_text(encoding="utf-8"))["test"]["map"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default=str(REPOSITORY / "build/release/stoker"))
    parser.add_argument("--images", type=int, default=1500)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.003)
    options = parser.parse_args()
    os.environ["STOKER"] = options.stoker
    import tasks_test  # pylint: disable=import-outside-toplevel

    options.side = tasks_test.SIDE
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        table = tasks_test.write_shapes(folder / "shapes", options.images, 1)
        parts = read(table)
        ours, theirs = [], []
        for seed in (1, 2, 3):
            ours.append(train_stoker(options.stoker, table, tasks_test.CLASSES, options, seed, folder))
            theirs.append(train_python(parts, options, seed))
            print(f"seed {seed}: Stoker {ours[-1]:.4f}, Python {theirs[-1]:.4f}", flush=True)
    print(f"mAP: Stoker {statistics.mean(ours):.4f} ({min(ours):.4f} to {max(ours):.4f}), "
          f"Python {statistics.mean(theirs):.4f} ({min(theirs):.4f} to {max(theirs):.4f})")
    return 0 if statistics.mean(ours) >= min(theirs) else 1


if __name__ == "__main__":
    sys.exit(main())
