#!/usr/bin/env python3
"""Sends a training run of Stoker to an experiment tracker. Started by `stoker log`.

Reads the files of the run's folder: settings from args.yaml, a row per epoch from results.csv, rows within epochs from
steps.csv, and the test from run.json. Nothing in the folder is changed. Exit codes: 0 success, 1 failure, 2 usage.
"""

import argparse
import csv
import json
import math
import pathlib
import sys


def settings_of(folder):
    """The flat YAML that Stoker writes: "name: value" on each line, lists in brackets."""
    settings = {}
    for line in (folder / "args.yaml").read_text(encoding="utf-8").splitlines():
        name, separator, value = line.partition(": ")
        if separator and not line.startswith(("#", " ")):
            settings[name] = value.strip().strip('"')
    return settings


def numbers_of(row):
    found = {}
    for name, text in row.items():
        try:
            number = float(text)
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            found[name] = number
    return found


def rows_of(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [numbers_of(row) for row in csv.DictReader(file)]


def history_of(folder):
    """Pairs of a step and its figures, by step: "train/…" within epochs, "epoch/…" at their ends."""
    history = {}
    for row in rows_of(folder / "steps.csv"):
        step = int(row.pop("step"))
        history.setdefault(step, {}).update({f"train/{name}": value for name, value in row.items() if name != "epoch"})
    for row in rows_of(folder / "results.csv"):
        step = int(row.pop("step"))
        history.setdefault(step, {}).update({f"epoch/{name}": value for name, value in row.items()})
    return sorted(history.items())


def test_of(folder):
    path = folder / "run.json"
    facts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {f"test/{name}": value for name, value in (facts.get("test") or {}).items() if isinstance(value, (int, float))}


def send_like_wandb(tracker, project, name, settings, history, test):
    """For Weights & Biases, and for trackio, which has its functions."""
    tracker.init(project=project, name=name, config=settings)
    for step, figures in history:
        tracker.log(figures, step=step)
    if test:
        tracker.log(test, step=history[-1][0] if history else 0)
    tracker.finish()


def send_to_mlflow(mlflow, project, name, settings, history, test):
    mlflow.set_experiment(project)
    with mlflow.start_run(run_name=name):
        mlflow.log_params({key: value[:500] for key, value in settings.items()})
        for step, figures in history:
            mlflow.log_metrics({key: value for key, value in figures.items()}, step=step)
        if test:
            mlflow.log_metrics(test, step=history[-1][0] if history else 0)


def main():
    parser = argparse.ArgumentParser(prog="stoker log")
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--to", required=True, choices=["wandb", "mlflow", "trackio"])
    parser.add_argument("--project", default="stoker")
    arguments = parser.parse_args()
    folder = arguments.run
    if not (folder / "args.yaml").is_file():
        print(f"stoker: not a run: {folder}. Expected args.yaml in it. Name a folder that `stoker train` made", file=sys.stderr)
        return 1
    try:
        tracker = __import__(arguments.to)
    except ImportError:
        print(f"stoker: the Python package {arguments.to} is missing. Install it: pip install {arguments.to}", file=sys.stderr)
        return 1
    history = history_of(folder)
    name = folder.resolve().name
    send = send_to_mlflow if arguments.to == "mlflow" else send_like_wandb
    try:
        send(tracker, arguments.project, name, settings_of(folder), history, test_of(folder))
    except Exception as error:  # pylint: disable=broad-exception-caught  # whatever the tracker raises
        print(f"stoker: {arguments.to} failed: {error}", file=sys.stderr)
        return 1
    print(f"sent {name} to {arguments.to}, project {arguments.project}: {len(history)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
