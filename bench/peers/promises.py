"""What loaders promise, tried: one row per promise, one column per loader. See README.md of bench."""

import hashlib
import os
import pickle
import signal
import time
import traceback

from . import measure
from .cpu import descendants
from .promise_sides import BATCH, SIDES, Stoker, StokerProcesses

STOP_AFTER = 4  # batches
PATIENCE_SECONDS = 60
BROKEN_BYTES = 300  # that stay of a file: no decoder can make an image of it


def digests(batches, limit=None):
    """(digest of the pixels, numbers of the files) of each batch."""
    found = []
    for pixels, numbers in batches:
        found.append((hashlib.sha256(pixels.tobytes()).hexdigest(), [int(n) for n in numbers]))
        if len(found) == limit:
            break
    return found


def compared(wanted, found):
    if wanted == found:
        return "exact"
    if [numbers for _, numbers in wanted] == [numbers for _, numbers in found]:
        return "order only"
    same = sorted(n for _, numbers in wanted for n in numbers) == sorted(n for _, numbers in found for n in numbers)
    return "no: other order" if same else "no: other images"


def run_epoch(side, arguments, limit=None):
    return digests(side().make(**arguments), limit)


def take_and_continue(side, arguments):
    """State after some batches, and the batches that came after it."""
    loader = side().make(**arguments)
    if not hasattr(loader, "state"):
        return None, []
    batches = iter(loader)
    digests(batches, STOP_AFTER)
    # Pickled here: torch would pass tensors of a state as files that end with this process.
    state = pickle.dumps(loader.state())
    return state, digests(batches)


def resume_epoch(side, arguments, state, limit):
    return run_epoch(side, arguments | {"state": pickle.loads(state)}, limit)


def same_for_workers(side, data):
    one, two, again = (measure.in_child(run_epoch, side, data | {"workers": w}) for w in (1, 2, 2))
    verdict = compared(one, two)
    return verdict if verdict == "exact" or two != again else f"{verdict} (the same in every run)"


def resumed(side, data, workers):
    state, rest = measure.in_child(take_and_continue, side, data | {"workers": 1})
    if state is None:
        return "no state"
    try:
        # Some go on for ever: as many batches as there were.
        found = measure.in_child(resume_epoch, side, data | {"workers": workers}, state, len(rest))
    except RuntimeError as error:
        return f"refused: {last_line(error).split(':')[0]}"
    return compared(rest, found)


def whole_batches(found):
    return [sorted(numbers) for _, numbers in found if len(numbers) == BATCH]


def of_two_ranks(run):
    """The images of each batch of both; run(rank) gives one's."""
    first, second = run({"workers": 1, "rank": 0, "ranks": 2}), run({"workers": 1, "rank": 1, "ranks": 2})
    return whole_batches([("", a[1] + b[1]) for a, b in zip(first, second)])


def same_batches(wanted, found):
    shared = min(len(wanted), len(found))
    return "same images in each batch" if shared and wanted[:shared] == found[:shared] else "other images in a batch"


def elastic(side, data):
    """Do 2 ranks together get the images of each batch that 1 rank gets?"""
    alone = measure.in_child(run_epoch, side, data | {"workers": 1})
    return same_batches(whole_batches(alone), of_two_ranks(lambda more: measure.in_child(run_epoch, side, data | more)))


def resumed_on_two(side, data):
    state, rest = measure.in_child(take_and_continue, side, data | {"workers": 1})
    if state is None:
        return "no state"
    try:
        both = of_two_ranks(lambda more: measure.in_child(resume_epoch, side, data | more, state, len(rest)))
    except RuntimeError as error:
        return f"refused: {last_line(error).split(':')[0]}"
    return same_batches(whole_batches(rest), both)


def read_broken(side, arguments):
    given, error = [], None
    try:
        for _, numbers in side().make(**arguments):
            given += [int(n) for n in numbers]
    except Exception as caught:  # of any library
        error = f"{type(caught).__name__}"
    return len(given), len(set(given)), error


def broken_file(side, data):
    given, different, error = measure.in_child(read_broken, side, data | {"workers": 2}, grace=PATIENCE_SECONDS)
    if error:
        return f"epoch ends after {given} images: {error}"
    return f"{given} given, {different} different"


def kill_one(side, arguments):
    batches = iter(side().make(**arguments))
    digests(batches, 1)
    below = descendants()
    if not below:
        return "threads: nothing to kill"
    os.kill(below[-1], signal.SIGKILL)
    begin, given = time.perf_counter(), 0
    try:
        for _, numbers in batches:
            given += len(numbers)
    except Exception as caught:  # of any library
        return f"{type(caught).__name__} after {time.perf_counter() - begin:.1f} s"
    return f"epoch goes on, {given} images"


def killed_worker(side, data):
    side = StokerProcesses if side is Stoker else side
    try:
        return measure.in_child(kill_one, side, data | {"workers": 2}, grace=PATIENCE_SECONDS)
    except RuntimeError as error:
        return "hangs" if "no answer" in str(error) else f"process ends: {last_line(error)}"


def last_line(error):
    """Of a traceback, short enough for a table."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    named = [line for line in lines if line.split(":")[0].endswith(("Error", "Exception"))]
    kind, _, words = (named or lines)[-1].partition(":")
    return f"{kind.rsplit('.', 1)[-1]}{':' if words else ''}{words}"[:80].replace("|", "/")


PROMISES = {
    "same batches for 1 and 2 workers": lambda side, once, broken: same_for_workers(side, once),
    "resume in mid-epoch": lambda side, once, broken: resumed(side, once, 1),
    "resume with 2 workers instead of 1": lambda side, once, broken: resumed(side, once, 2),
    "2 ranks instead of 1": lambda side, once, broken: elastic(side, once),
    "stopped on 1 rank, resumed on 2": lambda side, once, broken: resumed_on_two(side, once),
    "one broken file in 1,000": lambda side, once, broken: broken_file(side, broken),
    "a killed worker": lambda side, once, broken: killed_worker(side, once),
}


def folder_data(folder):
    return {"folder": str(folder), "files": sorted(str(path) for path in folder.glob("*/*.jpg"))}


def break_one(folder):
    """A file in the middle of the list loses all but its first bytes."""
    files = folder_data(folder)["files"]
    os.truncate(files[len(files) // 2], BROKEN_BYTES)


def try_all(once, broken, say, names=None):
    """{side: {promise: verdict}}; the folder `broken` has the broken file."""
    table = {}
    for side in SIDES:
        if names and side.name not in names:
            continue
        row = table[side.name] = {}
        for promise, experiment in PROMISES.items():
            try:
                row[promise] = experiment(side, folder_data(once), folder_data(broken))
            except RuntimeError as error:
                row[promise] = f"failed: {last_line(error)}"
                say(f"  {side.name}, {promise}:\n{error}")
            except Exception:
                row[promise] = "failed"
                say(traceback.format_exc())
            say(f"  {side.name}, {promise}: {row[promise]}")
    return table


def as_rows(table):
    rows = [["promise", *table]]
    return rows + [[promise, *(table[side][promise] for side in table)] for promise in PROMISES]
