"""What the experiments share: the program, a fresh folder for what they make, runs and the devices of the machine."""

import argparse
import csv
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def options_of(description, name, add_flags=None):
    """The flags --stoker and --output (emptied), and those of the experiment."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default=ROOT / "build" / "release" / "stoker", type=pathlib.Path)
    parser.add_argument("--output", default=ROOT / "build" / "experiments" / name, type=pathlib.Path)
    if add_flags:
        add_flags(parser)
    options = parser.parse_args()
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    return options


def stoker(options, *arguments):
    """Runs the program and gives what it printed; ends the experiment with its message where it fails."""
    done = subprocess.run([str(options.stoker), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def rows_of(options, name):
    with open(options.output / name / "results.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def train(options, name, *arguments):
    """Trains a run of that name and gives the rows of its epochs."""
    stoker(options, "train", *arguments, "--output", options.output, "--experiment", name)
    return rows_of(options, name)


def devices(options):
    """The CPU, and CUDA where it can be used; says why where it cannot."""
    tried = subprocess.run([str(options.stoker), "train", "--data", "fashion-mnist", "--model", "mlp:784,128,10", "--device",
                            "cuda", "--epochs", "1", "--batches-per-epoch", "1", "--output", str(options.output),
                            "--experiment", "probe"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return ["cpu", "cuda"]
    print(f"no accelerator: {tried.stderr.strip()}\n")
    return ["cpu"]
