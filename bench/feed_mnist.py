#!/usr/bin/env python3
"""Feeding augmented 28x28 images: Stoker beside the Python peers, measured in one run.

Checks first that all sides do the same kind of work, then measures them interleaved over rounds
and prints the median, the spread and Stoker's ratio. See README.md beside this file.
Exit status: 0 measured, 1 the sides differ or one failed, 2 usage.
"""

import argparse
import os
import shlex
import sys
from pathlib import Path

# Before numpy is loaded: its BLAS would start threads, and the parent must have none to fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from peers import SMALL_IMAGES, check, compare, data  # noqa: E402
from peers.side import Context  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    compare.add_flags(parser, SMALL_IMAGES, REPOSITORY, seconds=3, stoker_epochs=20)
    add = parser.add_argument
    add("--data", default="fashion-mnist", help="fashion-mnist or mnist")
    add("--stoker-image-args", type=shlex.split, default=[], help="more flags for its images")
    return parser.parse_args()


def make_context(options):
    root = data.find_root(options.data, REPOSITORY)
    return Context(
        images=data.read_images(root / options.data / data.IMAGES),
        data_name=options.data,
        data_root=root,
        stoker=options.stoker,
        stoker_epochs=options.stoker_epochs,
        stoker_image_args=options.stoker_image_args,
    )


def different_digests(results):
    """Stoker promises the same bytes in every run, whatever the number of workers."""
    digests = {notes["digest"] for r in results for notes in r.notes if "digest" in notes}
    return [f"Stoker's digests differ: {', '.join(sorted(digests))}"] if len(digests) > 1 else []


def run(options):
    about = {"data": options.data}
    context = make_context(options)
    results, wrong = compare.compare(options, SMALL_IMAGES, context, check, about)
    return wrong + different_digests(results)


if __name__ == "__main__":
    arguments = parse_arguments()
    sys.exit(compare.exit_status(lambda: run(arguments)))
