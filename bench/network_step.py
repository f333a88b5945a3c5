#!/usr/bin/env python3
"""A training step of networks that Python exports: Stoker on the .pt2 file beside Python eager and torch.compile.

Needs timm beside torch (tests/networks_requirements.txt). All sides compute on one batch that lies in memory, on all CPUs,
with momentum; interleaved rounds in one run, the median of each side's medians. Python eager runs with channels last and
without; the better one counts. Exit status: 0 measured, 1 a side failed.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from photo_step import STEPS, medians_of, output_of

REPOSITORY = Path(__file__).resolve().parent.parent

PYTHON = """
import contextlib, statistics, sys, time
import timm, torch
name, batch, precision, steps, how = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5]
torch.manual_seed(0)
format = torch.channels_last if how == "channels_last" else torch.contiguous_format
model = timm.create_model(name).to(memory_format=format).train()
call = torch.compile(model) if how == "compile" else model
images = torch.randn(batch, 3, 224, 224).contiguous(memory_format=format)
""" + STEPS


def measure(options, name, file):
    sides = ("eager", "channels_last", *(("compile",) if options.compile else ()), "stoker")
    commands = {}
    for precision in options.precision:
        words = [options.batch, precision, options.steps]
        for side in sides:
            commands[f"{precision} {side}"] = ([options.step, file, *words] if side == "stoker" else
                                               [sys.executable, "-c", PYTHON, name, *words, side])
    return medians_of(commands, options.rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=["resnet50", "convnext_tiny", "vit_small_patch16_224", "efficientnet_b0"])
    parser.add_argument("--step", type=Path, default=REPOSITORY / "build/release/bench/photo_step")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--compile", action="store_true", help="torch.compile too, which takes minutes a network")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    all_medians = {}
    print("seconds a step; the last column is the better Python eager over Stoker")
    with tempfile.TemporaryDirectory(prefix="network-step-") as scratch:
        for name in options.networks:
            file = Path(scratch, f"{name}.pt2")
            output_of([sys.executable, REPOSITORY / "scripts/export_network.py", name, "--out", file])
            all_medians[name] = medians = measure(options, name, file)
            for precision in options.precision:
                row = {key.split()[1]: seconds for key, seconds in medians.items() if key.startswith(precision)}
                eager = min(row["eager"], row["channels_last"])
                print(f"{name:24} {precision:9} " + "  ".join(f"{side} {seconds:.3f}" for side, seconds in row.items()) +
                      f"  {eager / row['stoker']:.2f}x", flush=True)
            file.unlink()
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(all_medians, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
