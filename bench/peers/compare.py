"""The course of a comparison: load the sides, look at their images, measure, print."""

import argparse
import json
import sys
from pathlib import Path

from . import load_sides, measure, report
from .check import draw

QUIET_LOAD = 0.5  # above this the machine is not idle, and the figures are not to be trusted


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return int(text)


def worker_counts(text):
    return [positive(part) for part in text.split(",")]


def letters(modules):
    def parse(text):
        chosen = [part for part in text.split(",") if part]
        if not set(chosen) <= set(modules):
            raise argparse.ArgumentTypeError(f"letters out of {','.join(modules)}")
        return chosen

    return parse


def add_flags(parser, modules, repository, seconds, stoker_epochs):
    """The flags that every comparison has; the last two are defaults."""
    add = parser.add_argument
    add("--rounds", type=positive, default=5, help="rounds over all sides (5)")
    timed = f"timed part of a Python side per round ({seconds})"
    add("--seconds", type=float, default=seconds, help=timed)
    add("--workers", type=worker_counts, default=[1, 2], help="numbers of workers (1,2)")
    skip = f"sides to skip, out of {','.join(modules)}"
    add("--without", type=letters(modules), default=[], help=skip)
    add("--stoker", type=Path, default=repository / "build/release/stoker", help="the program")
    epochs = f"epochs of a run of Stoker ({stoker_epochs})"
    add("--stoker-epochs", type=positive, default=stoker_epochs, help=epochs)
    image = repository / f"build/bench/{Path(sys.argv[0]).stem}.png"
    add("--image", type=Path, default=image, help="where the images are drawn")
    add("--json", type=Path, help="save the results here")
    add("--markdown", action="store_true", help="print tables as markdown")


def say(text):
    print(text, file=sys.stderr, flush=True)


def check_looks(results, context, options, check):
    """Looks at exactly what will be measured: every side, its setting and its workers.

    Draws the image, prints the figures; returns them, and what is wrong with them.
    """
    rows, looks = {"originals": check.originals(context)}, []
    for result in results:
        look, images = measure.in_child(measure.look_at, result, check.__name__)
        rows[f"{result.side.letter}  {result.side.name}"] = images  # the last number of workers
        looks.append(look)
    draw(rows, options.image)
    say(f"image: {options.image}")
    print(report.format_table(report.look_table(looks), options.markdown), flush=True)
    return looks, check.differences(looks)


def print_results(results, options):
    rows = report.rate_table(results, options.workers)
    print(f"\n{report.format_table(rows, options.markdown)}\n")
    for line in report.setting_lines(results):
        print(f"- {line}" if options.markdown else line)


def compare(options, modules, context, check, about):
    """Returns the results, and what went wrong as sentences; `about` goes into the JSON file."""
    about = report.machine() | {"versions": report.versions()} | about
    if about["load"] > QUIET_LOAD:
        say(f"note: the load is {about['load']:.2f}, not idle: don't trust the figures")
    sides, missing = load_sides(modules, options.without, context)
    for letter, reason in missing.items():
        say(f"side {letter} is left out: {reason}")
    if not sides:
        return [], ["no side can run"]
    results = [measure.choose_setting(s, w, say) for w in options.workers for s in sides]
    # Where a process takes seconds to start, one number of workers is enough.
    looked_at = results if measure.start_method == "fork" else [r for r in results if r.workers == options.workers[-1]]
    looks, wrong = check_looks(looked_at, context, options, check)
    if wrong:
        return results, ["the sides do not do the same work"] + wrong
    measure.run_rounds(results, options.rounds, options.seconds, say)
    print_results(results, options)
    if options.json:
        saved = report.as_json(results, looks, about | {"missing": missing})
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")
    return results, []


def exit_status(run):
    """Calls run() and says what went wrong. 0: nothing, 1: something."""
    try:
        wrong = run()
    except RuntimeError as error:
        wrong = [str(error)]
    for line in wrong:
        say(line)
    return 1 if wrong else 0
