"""Runs the sides one at a time, each in a fresh process, interleaved over rounds."""

import importlib
import multiprocessing
import statistics
import traceback
from dataclasses import dataclass, field

CHOOSING_SECONDS = 0.7
CHOOSING_PASSES = 2  # the better one counts: a disturbance must not decide
GRACE_SECONDS = 300  # for what is not timed; a side that hangs must not hang the bench


@dataclass
class Result:
    """One side with one number of workers."""

    side: object
    workers: int
    setting: dict
    rates: list = field(default_factory=list)  # samples/s, one per round
    notes: list = field(default_factory=list)

    @property
    def name(self):
        return f"{self.side.name}, {self.workers} worker{'s' if self.workers > 1 else ''}"

    @property
    def median(self):
        return statistics.median(self.rates)

    @property
    def cpu(self):
        """Median CPU seconds for 1,000 samples; None where they were not measured."""
        return self.median_note("cpu_seconds_per_1000")

    @property
    def memory(self):
        """Median MB of all processes of a side; None where they were not measured."""
        return self.median_note("megabytes")

    def median_note(self, key):
        found = [notes.get(key) for notes in self.notes]
        return None if None in found else statistics.median(found)


# "spawn" gives every measurement a fresh interpreter that imports only its own side, so that its
# memory can be measured; "fork" saves the imports.
start_method = "fork"


def in_child(function, *arguments, seconds=0.0, grace=GRACE_SECONDS):
    """Calls the function in a process of its own.

    The parent imports and loads but never computes, so it has no threads and a fork of it is safe;
    thread counts, pools and memory of one measurement are gone before the next one starts.
    """
    mp = multiprocessing.get_context(start_method)
    receiver, sender = mp.Pipe(duplex=False)
    child = mp.Process(target=_answer, args=(sender, function, arguments))
    child.start()
    sender.close()
    try:
        if not receiver.poll(seconds + grace):
            raise RuntimeError(f"no answer after {seconds + grace:.0f} s")
        worked, answer = receiver.recv()
    except EOFError:
        worked, answer = False, "the process ended without an answer"
    finally:
        child.join(timeout=min(10, grace))
        if child.is_alive():
            child.kill()
            child.join()
    if not worked:
        raise RuntimeError(answer)
    return answer


def _answer(sender, function, arguments):
    try:
        sender.send((True, function(*arguments)))
    except Exception:
        sender.send((False, traceback.format_exc()))


def run_once(side, workers, setting, seconds):
    side.start(workers, **setting)
    try:
        return side.run(seconds), side.notes
    finally:
        side.stop()


def look_at(result, check_name):
    """What the check module makes of a side's images, and the first of them."""
    check = importlib.import_module(check_name)
    result.side.start(result.workers, **result.setting)
    try:
        images = result.side.images(check.SAMPLES)
    finally:
        result.side.stop()
    return check.Look.of(result, images), check.shown(images)


def choose_setting(side, workers, say):
    """The side with the fastest of its settings: every peer is measured at its best."""
    choices = [Result(side, workers, setting) for setting in side.settings(workers)]
    if len(choices) == 1:
        return choices[0]
    passes = CHOOSING_PASSES if start_method == "fork" else 1  # fresh interpreters take seconds
    for choice in choices * passes:
        rate, _ = in_child(run_once, side, workers, choice.setting, CHOOSING_SECONDS)
        say(f"  choosing: {choice.name}, {setting_words(choice.setting)}: {rate:,.0f}")
        choice.rates.append(rate)
    best = max(choices, key=lambda choice: max(choice.rates))
    return Result(side, workers, best.setting)


def setting_words(setting):
    return ", ".join(f"{key} {value}" for key, value in setting.items())


def run_rounds(results, rounds, seconds, say):
    """Every round measures every side once; each round begins with another side."""
    for number in range(rounds):
        first = number % len(results)
        for result in results[first:] + results[:first]:
            arguments = (result.side, result.workers, result.setting, seconds)
            rate, notes = in_child(run_once, *arguments, seconds=seconds)
            result.rates.append(rate)
            result.notes.append(notes)
            say(f"  round {number + 1}/{rounds}: {result.name}: {rate:,.0f}")
