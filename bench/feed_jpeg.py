#!/usr/bin/env python3
"""Feeding augmented photographs (JPEG): Stoker beside the Python peers, measured in one run.

Checks first that all sides do the same kind of work, then measures them interleaved over rounds
and prints the median, the spread, CPU seconds and Stoker's ratio, antialiased sides and others
apart. See README.md beside this file.
Exit status: 0 measured, 1 the sides differ or one failed, 2 usage.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

# Before numpy is loaded: its BLAS would start threads, and the parent must have none to fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from peers import PHOTOS, compare, photo_check, photos  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    compare.add_flags(parser, PHOTOS, REPOSITORY, seconds=6, stoker_epochs=2)
    add = parser.add_argument
    add("--copies", type=compare.positive, default=12, help="of each photograph (12)")
    add("--scratch", type=Path, help="where the copies go for the time of the run (temporary)")
    return parser.parse_args()


def make_context(options, folder):
    originals = photos.find_photos(REPOSITORY)
    photos.lay_out(originals, folder / "photos", options.copies)
    photos.lay_out(originals, folder / "once", 1)
    return photos.PhotoContext(
        folder=folder / "photos",
        once_folder=folder / "once",
        stoker=options.stoker,
        stoker_epochs=options.stoker_epochs,
    )


def run(options):
    with tempfile.TemporaryDirectory(prefix="feed_jpeg-", dir=options.scratch) as folder:
        context = make_context(options, Path(folder))
        about = {"photographs": len(context.once), "samples_per_epoch": context.size}
        return compare.compare(options, PHOTOS, context, photo_check, about)[1]


if __name__ == "__main__":
    arguments = parse_arguments()
    sys.exit(compare.exit_status(lambda: run(arguments)))
