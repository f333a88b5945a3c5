#!/usr/bin/env python3
"""Feeds for Python, all measured from Python in one run: Stoker beside its peers.

Four parts: photographs (JPEG, 224), 28x28 images, the first batch of 100,000 files, and promises by experiment. Sides are measured
interleaved, each in a fresh interpreter that imports only what it needs. Prints markdown tables; --json saves all figures.
See README.md beside this file. Exit status: 0 measured, 1 the sides differ or one failed, 2 usage.
"""

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Before numpy is loaded, here and in what is started: its BLAS would start threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from peers import PYTHON_PHOTOS, PYTHON_SMALL, check, compare, data, measure, photo_check, photos, report  # noqa: E402
from peers.side import Context  # noqa: E402

BENCH = Path(__file__).resolve().parent
REPOSITORY = BENCH.parent
BUILT = REPOSITORY / "build/release/python"  # the package of a build with STOKER_PYTHON
PARTS = ("photos", "small", "first", "promises")


def find_package():
    """Stoker as pip installed it, else that of the build, for this process and those that it starts."""
    if importlib.util.find_spec("stoker") is None:
        sys.path.insert(0, str(BUILT))
    os.environ["PYTHONPATH"] = os.pathsep.join(str(Path(folder).resolve()) for folder in sys.path if Path(folder).is_dir())


def parts(text):
    chosen = text.split(",")
    if not set(chosen) <= set(PARTS):
        raise argparse.ArgumentTypeError(f"out of {','.join(PARTS)}")
    return chosen


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--only", type=parts, default=list(PARTS), help=f"parts to run ({','.join(PARTS)})")
    add("--rounds", type=compare.positive, default=3, help="rounds over all sides (3)")
    add("--seconds", type=float, default=2.5, help="timed part of a side per round; of 28x28 images 1.5 at most (2.5)")
    add("--workers", type=compare.worker_counts, default=[1, 2], help="numbers of workers (1,2)")
    add("--without", type=compare.letters(PYTHON_PHOTOS | PYTHON_SMALL), default=[], help="letters of sides to skip")
    add("--copies", type=compare.positive, default=12, help="of each photograph (12)")
    add("--files", type=compare.positive, default=100_000, help="files of the first batch's folder (100000)")
    add("--data", default="fashion-mnist", help="fashion-mnist or mnist")
    add("--scratch", type=Path, help="where files go for the time of the run (temporary)")
    add("--json", type=Path, default=REPOSITORY / "build/bench/python_feed.json", help="save the results here")
    options = parser.parse_args()
    options.markdown = True
    return options


def compare_part(options, name, modules, context, check_module):
    """Tables of one kind of images on the screen, figures in a file; what went wrong."""
    own = argparse.Namespace(**vars(options))
    own.image = REPOSITORY / f"build/bench/python_feed_{name}.png"
    own.json = options.json.with_name(f"{options.json.stem}_{name}.json")
    own.without = [letter for letter in options.without if letter in modules]
    print(f"\n## {name}\n", flush=True)
    return compare.compare(own, modules, context, check_module, {"part": name})[1]


def run_photos(options, folder):
    originals = photos.find_photos(REPOSITORY)
    photos.lay_out(originals, folder / "photos", options.copies)
    photos.lay_out(originals, folder / "once", 1)
    context = photos.PhotoContext(folder=folder / "photos", once_folder=folder / "once", stoker=None, stoker_epochs=0)
    return compare_part(options, "photos", PYTHON_PHOTOS, context, photo_check)


def run_small(options, folder):
    root = data.find_root(options.data, REPOSITORY)
    images = data.read_images(root / options.data / data.IMAGES)
    options = argparse.Namespace(**vars(options) | {"seconds": min(options.seconds, 1.5)})
    context = Context(images=images, data_name=options.data, data_root=root, stoker=None, stoker_epochs=0, stoker_image_args=[])
    return compare_part(options, "small", PYTHON_SMALL, context, check)


def first_batch(side, folder, cache, workers):
    """Seconds of the whole process, seconds without imports, MB."""
    command = [sys.executable, "-W", "ignore", "-m", "peers.first", side, str(folder), str(workers)]
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=BENCH, env=os.environ | {"XDG_CACHE_HOME": str(cache)}, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()  # printed with the first batch: what follows is its end
    seconds = time.perf_counter() - begin
    _, error = process.communicate(timeout=120)
    if not line.strip():
        raise RuntimeError(f"{side}: exit {process.returncode}\n{error[-1500:]}")
    return {"seconds": seconds} | json.loads(line)


def run_first(options, folder):
    from first_batch import make_images
    from peers.first import SIDES

    images, cache = folder / "images", folder / "cache"
    images.mkdir()
    make_images(images, options.files)
    time.sleep(3)  # a listing is kept once its folders have been at rest for two seconds
    subprocess.run(["cat", *map(str, images.glob("class000/*"))], stdout=subprocess.DEVNULL, check=True)
    found, wrong = {}, []
    for number in range(options.rounds):
        shutil.rmtree(cache, ignore_errors=True)
        for side, name in [*SIDES.items(), ("stoker", "Stoker, listing kept")]:
            if name in wrong:
                continue
            try:
                found.setdefault(name, []).append(first_batch(side, images, cache, options.workers[-1]))
            except RuntimeError as error:
                wrong.append(name)
                compare.say(f"{name}: {error}")
                continue
            compare.say(f"  round {number + 1}/{options.rounds}: {name}: {found[name][-1]['seconds']:.2f} s")
    rows = [["side", "s to the first batch", "without imports", "MB"]]
    for name, rounds in ((name, rounds) for name, rounds in found.items() if rounds):
        middle = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
        rows.append([name, f"{middle['seconds']:.2f}", f"{middle['inside']:.2f}", f"{middle['megabytes']:,.0f}"])
    print(f"\n## first batch of {options.files:,} files, {options.workers[-1]} workers\n\n{report.format_table(rows, True)}", flush=True)
    return {"first": found}, [f"first batch of {name} failed" for name in wrong]


def run_promises(options, folder):
    from peers import promises

    originals = photos.find_photos(REPOSITORY)
    photos.lay_out(originals, folder / "once", 1)
    photos.lay_out(originals, folder / "broken", 4)
    promises.break_one(folder / "broken")
    table = promises.try_all(folder / "once", folder / "broken", compare.say)
    print(f"\n## promises\n\n{report.format_table(promises.as_rows(table), True)}", flush=True)
    return {"promises": table}, []


def run(options):
    measure.start_method = "spawn"
    find_package()
    wrong, saved, begin = [], {}, time.perf_counter()
    for part in options.only:
        with tempfile.TemporaryDirectory(prefix="python_feed-", dir=options.scratch) as folder:
            found = {"photos": run_photos, "small": run_small, "first": run_first, "promises": run_promises}[part](options, Path(folder))
        more, bad = found if isinstance(found, tuple) else ({}, found)
        saved, wrong = saved | more, wrong + bad
    saved |= report.machine() | {"versions": report.versions(), "minutes": (time.perf_counter() - begin) / 60}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    compare.say(f"{saved['minutes']:.1f} minutes; {options.json}")
    return wrong


if __name__ == "__main__":
    arguments = parse_arguments()
    sys.exit(compare.exit_status(lambda: run(arguments)))
