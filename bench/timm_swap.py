#!/usr/bin/env python3
"""timm's train.py on flowers12 with its own loader and with Stoker's feed: accuracy after 10 epochs, 3 seeds each.

    git clone --depth 1 https://github.com/huggingface/pytorch-image-models build/timm      # train.py is not in timm's wheel
    .venv-networks/bin/python bench/timm_swap.py --train-py build/timm/train.py --json build/bench/timm_swap.json

Needs timm, torch and torchvision (tests/networks_requirements.txt), an importable `stoker` and flowers12 of $STOKER_TEST_DATA. Both
sides have the same arguments; runs alternate. Validation is timm's own loader on the test part. Status 1 where the means differ by
more than the larger spread of the two (largest less smallest).
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SIDES = {"timm's loader": [], "Stoker's feed": [str(REPOSITORY / "examples/python/timm_train.py")]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--train-py", type=Path, required=True, help="timm's script")
    data = Path(os.environ.get("STOKER_TEST_DATA") or REPOSITORY.parent / "shared/data") / "flowers12"
    add("--data", type=Path, default=data, help="folder with train and test ($STOKER_TEST_DATA/flowers12)")
    add("--seeds", type=int, default=3, help="number of seeds (3)")
    add("--epochs", type=int, default=10, help="number of epochs (10)")
    add("--model", default="resnet18", help="timm's name of the network (resnet18)")
    add("--weights", type=Path, help="weights to start from, in timm's names; not given: training from scratch")
    add("--size", type=int, default=112, help="side of the images in pixels (112)")
    add("--workers", type=int, default=2, help="loader workers (2)")
    add("--json", type=Path, help="write all figures there")
    return parser.parse_args()


def train(options, launcher, seed, folder):
    """Top-1 of every epoch, and seconds."""
    words = [sys.executable, *launcher, str(options.train_py), "--data-dir", str(options.data), "--train-split", "train"]
    words += ["--val-split", "test", "--num-classes", "12", "--model", options.model, "--img-size", str(options.size)]
    words += ["--train-interpolation", "bilinear", "--epochs", str(options.epochs), "-b", "48", "-j", str(options.workers)]
    words += ["--opt", "adamw", "--lr", "1e-3" if options.weights is None else "3e-4", "--weight-decay", "0.05", "--sched", "cosine"]
    words += ["--warmup-epochs", "1", "--cooldown-epochs", "0", "--seed", str(seed), "--device", "cpu", "--output", str(folder)]
    words += ["--experiment", "run", "--log-interval", "1000"]
    if options.weights is not None:
        words += ["--pretrained", "--pretrained-path", str(options.weights)]
    begin = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    with open(folder / "run" / "summary.csv", newline="", encoding="utf-8") as file:
        return [float(row["eval_top1"]) for row in csv.DictReader(file)], seconds


def spread(values):
    return max(values) - min(values)


def main():
    options = parse_arguments()
    runs = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory(prefix="timm_swap-") as scratch:
        for seed in range(options.seeds):
            for number, (side, launcher) in enumerate(SIDES.items()):
                top1, seconds = train(options, launcher, seed, Path(scratch, f"{seed}-{number}"))
                runs[side].append({"seed": seed, "top1": top1, "seconds": seconds})
                print(f"{side}, seed {seed}: top-1 {top1[-1]:.2f} %, {seconds:.0f} s", file=sys.stderr, flush=True)
    last = {side: [run["top1"][-1] for run in found] for side, found in runs.items()}
    print(f"| {options.model}, {options.size} px, {options.epochs} epochs | top-1 of the seeds, % | mean | spread | s a run |\n|---|---|---|---|---|")
    for side, values in last.items():
        seconds = statistics.median(run["seconds"] for run in runs[side])
        print(f"| {side} | {', '.join(f'{v:.2f}' for v in values)} | {statistics.mean(values):.2f} | {spread(values):.2f} | {seconds:.0f} |")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        about = {key: str(value) for key, value in vars(options).items()}
        options.json.write_text(json.dumps({"options": about, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    difference = abs(statistics.mean(last["timm's loader"]) - statistics.mean(last["Stoker's feed"]))
    return 0 if difference <= max(map(spread, last.values())) else 1


if __name__ == "__main__":
    sys.exit(main())
