#!/usr/bin/env python3
"""Feeding augmented 28x28 pictures: Stoker beside the Python peers, measured in one run.

Checks first that all sides do the same kind of work, then measures them interleaved over rounds
and prints the median, the spread and Stoker's ratio. See README.md beside this file.
Exit status: 0 measured, 1 the sides differ or one failed, 2 usage.
"""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

# Before numpy is loaded: its BLAS would start threads, and the parent must have none to fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from peers import MODULES, load_sides  # noqa: E402
from peers import check, data, measure, report  # noqa: E402
from peers.side import Context  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent
QUIET_LOAD = 0.5  # above this the machine is not idle, and the figures are not to be trusted


def letters(text):
    chosen = [part for part in text.split(",") if part]
    if not set(chosen) <= set(MODULES):
        raise argparse.ArgumentTypeError(f"letters out of {','.join(MODULES)}")
    return chosen


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return int(text)


def worker_counts(text):
    return [positive(part) for part in text.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--rounds", type=positive, default=5, help="rounds over all sides (5)")
    add("--seconds", type=float, default=3.0, help="timed part of a Python side per round (3)")
    add("--workers", type=worker_counts, default=[1, 2], help="numbers of workers (1,2)")
    add("--without", type=letters, default=[], help="sides to skip, out of s,a,b,c,d")
    add("--data", default="fashion-mnist", help="fashion-mnist or mnist")
    add("--stoker", type=Path, default=REPOSITORY / "build/release/stoker", help="the program")
    add("--stoker-epochs", type=positive, default=20, help="epochs per run: 1 s or more (20)")
    add("--stoker-picture-args", type=shlex.split, default=[], help="more flags for its picture")
    add("--picture", type=Path, default=REPOSITORY / "build/bench/feed_mnist.png")
    add("--json", type=Path, help="save the results here")
    add("--markdown", action="store_true", help="print tables as markdown")
    return parser.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def make_context(options):
    root = data.find_root(options.data, REPOSITORY)
    return Context(
        images=data.read_images(root / options.data / data.IMAGES),
        data_name=options.data,
        data_root=root,
        stoker=options.stoker,
        stoker_epochs=options.stoker_epochs,
        stoker_picture_args=options.stoker_picture_args,
    )


def check_looks(results, context, options):
    """Looks at exactly what will be measured: every side, its setting and its workers.

    Draws the picture, prints the figures; returns them, and what is wrong with them.
    """
    originals = context.images[: check.SHOWN, None].astype("float32") / 255
    rows, looks = {"originals": originals}, []
    for result in results:
        arguments = (result.side, result.workers, result.setting, check.SAMPLES)
        pictures = measure.in_child(measure.take_pictures, *arguments)
        rows[f"{result.side.letter}  {result.side.name}"] = pictures  # the last number of workers
        looks.append(check.Look.of(result.name, pictures))
    check.draw(rows, options.picture)
    say(f"picture: {options.picture}")
    print(report.format_table(report.look_table(looks), options.markdown), flush=True)
    return looks, check.differences(looks)


def print_results(results, options):
    rows = report.rate_table(results, options.workers)
    print(f"\n{report.format_table(rows, options.markdown)}\n")
    for line in report.setting_lines(results):
        print(f"- {line}" if options.markdown else line)


def different_digests(results):
    """Stoker promises the same bytes in every run, whatever the number of workers."""
    digests = {notes["digest"] for r in results for notes in r.notes if "digest" in notes}
    return [f"Stoker's digests differ: {', '.join(sorted(digests))}"] if len(digests) > 1 else []


def compare(options):
    about = report.machine() | {"versions": report.versions(), "data": options.data}
    if about["load"] > QUIET_LOAD:
        say(f"note: the load is {about['load']:.2f}, not idle: don't trust the figures")
    context = make_context(options)
    sides, missing = load_sides(options.without, context)
    for letter, reason in missing.items():
        say(f"side {letter} is left out: {reason}")
    if not sides:
        return ["no side can run"]
    results = [measure.choose_setting(s, w, say) for w in options.workers for s in sides]
    looks, wrong = check_looks(results, context, options)
    if wrong:
        return ["the sides do not do the same work"] + wrong
    measure.run_rounds(results, options.rounds, options.seconds, say)
    print_results(results, options)
    if options.json:
        saved = report.as_json(results, looks, about | {"missing": missing})
        options.json.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")
    return different_digests(results)


def main():
    try:
        wrong = compare(parse_arguments())
    except RuntimeError as error:
        wrong = [str(error)]
    for line in wrong:
        say(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
