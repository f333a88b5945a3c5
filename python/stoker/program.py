"""The program's commands as functions: train, predict, evaluate and doctor.

Each runs the program as a process of its own, so LibTorch never enters this one. Keyword arguments are the program's options with
underscores: `stoker.program.train("flowers", pretrained="resnet50", epochs=5)` is `stoker train flowers --pretrained=resnet50
--epochs=5`. `train` shows what the program prints as it comes; `show` changes that. Errors raise ProgramError, a stoker.Error, with the
program's message.

Ctrl-C is passed on once: the program saves its state, and then KeyboardInterrupt is raised. A second Ctrl-C ends the program at once.
"""

from __future__ import annotations

import csv
import difflib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Literal

from ._error import Error, ProgramError
from ._options import DoctorOptions, EvaluateOptions, PredictOptions, Text, TrainOptions

if TYPE_CHECKING:
    from typing import Unpack

__all__ = ["Predictions", "ProgramError", "TrainResult", "doctor", "evaluate", "find_program", "predict", "train"]

STOPPED = 3  # exit code of a run that was stopped by a signal and can be resumed


def find_program() -> str:
    """The program: beside this package, else $STOKER, else on the PATH."""
    beside = pathlib.Path(os.path.abspath(__file__)).parent / "bin" / "stoker"
    found = str(beside) if beside.is_file() else os.environ.get("STOKER") or shutil.which("stoker")
    if not found or not os.access(found, os.X_OK):
        raise Error(f"cannot find the program stoker. Expected it at {beside}, in $STOKER or on the PATH, got {found or 'none'}. "
                    "Install the wheel of Stoker, or set STOKER to a program that you built.")
    return found


@dataclass(frozen=True)
class TrainResult:
    """What a run left in its folder."""

    folder: pathlib.Path
    state: str  # finished, stopped, diverged, ended early or running
    epochs: list[dict[str, float]]  # rows of results.csv
    run: dict[str, Any]  # run.json: data, model, machine, versions, digests, the test at the end
    folds: dict[str, Any] | None = None  # folds.json of a cross-validation
    output: str = field(default="", repr=False)  # what the program printed

    @property
    def best(self) -> pathlib.Path:
        """Weights of the best epoch."""
        return self.folder / "weights" / "best.safetensors"

    @property
    def last(self) -> pathlib.Path:
        """Weights of the last epoch."""
        return self.folder / "weights" / "last.safetensors"

    @property
    def test(self) -> dict[str, Any] | None:
        """Figures of the test part, where the data has one."""
        return self.run.get("test")


@dataclass(frozen=True)
class Predictions:
    """Rows in the order of the data, and counts and times of all."""

    rows: list[dict[str, Any]]  # empty where `out` was given
    summary: dict[str, Any]

    def __len__(self) -> int:
        return len(self.rows)


def train(data: Text | None = None, *, show: bool = True, **options: Unpack[TrainOptions]) -> TrainResult:
    """Trains a model or resumes a run; see `stoker train --help` for the options.

    A run that was stopped by a signal, for example by a scheduler, has the state "stopped": train(resume=result.folder) continues it.
    """
    done = _run("train", TrainOptions, data, dict(options), show=show, accepted=(0, STOPPED))
    folder = _run_folder(done.out)
    if folder is None:
        raise ProgramError(f"stoker train ended without naming its folder:\n{done.out}", done.code)
    folds = folder / "folds.json"
    return TrainResult(
        folder=folder,
        state=_read_json(folder / "run.json").get("state", "stopped" if done.code == STOPPED else "finished"),
        epochs=_read_rows(folder / "results.csv"),
        run=_read_json(folder / "run.json"),
        folds=_read_json(folds) if folds.is_file() else None,
        output=done.out,
    )


def predict(data: Text | None = None, *, out: str | os.PathLike[str] | None = None,
            format: Literal["csv", "jsonl", "submission"] | None = None, show: bool = False,
            **options: Unpack[PredictOptions]) -> Predictions:
    """Probabilities of the classes for each image; with `out` they are written to a file instead.

    An image that cannot be read has a row with the key `error`, and a warning says so (`on_error="skip"`: no warning).
    """
    with tempfile.TemporaryDirectory(prefix="stoker-") as scratch:
        file = pathlib.Path(out) if out is not None else pathlib.Path(scratch, "rows.jsonl")
        own = {"out": file, "format": format or ("csv" if out is not None else "jsonl"), "json": True}
        done = _run("predict", PredictOptions, data, dict(options), own=own, show=show, accepted=(0, 1))
        summary = _printed_object(done)
        rows = [] if out is not None else [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    _warn(done)
    return Predictions(rows, summary)


def evaluate(data: Text | None = None, *, show: bool = False, **options: Unpack[EvaluateOptions]) -> dict[str, Any]:
    """Figures of a model on labelled data, as `stoker eval --json` prints them; fractions are in [0, 1]."""
    done = _run("eval", EvaluateOptions, data, dict(options), own={"json": True}, show=show, accepted=(0, 1))
    result = _printed_object(done)
    _warn(done)
    return result


def doctor(data: Text, *, show: bool = False, **options: Unpack[DoctorOptions]) -> dict[str, Any]:
    """Findings about a dataset: the object of doctor.json. Files are kept only where `out`, `html` or `write_list` says so."""
    with tempfile.TemporaryDirectory(prefix="stoker-") as scratch:
        given: dict[str, Any] = dict(options)
        folder = given.pop("out", None) or scratch
        own = {"out": folder, "fail_on": "never"}
        _run("doctor", DoctorOptions, data, given, own=own, show=show, accepted=(0,))
        return _read_json(pathlib.Path(os.fspath(folder), "doctor.json"))


@dataclass
class _Done:
    command: str
    code: int
    out: str
    err: str


def _run(command: str, known: type, data: Text | None, options: Mapping[str, Any], *, show: bool, accepted: Sequence[int],
         own: Mapping[str, Any] | None = None) -> _Done:
    words = [find_program(), command, *([] if data is None else [_text(data)])]
    for name, value in options.items():
        words += _flag(command, known, name, value)
    for name, value in (own or {}).items():
        words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f"={_text(value)}"))
    done, interrupts = _execute(command, words, show)
    if interrupts:
        raise KeyboardInterrupt(_message(done) or f"stoker {command} was stopped")
    # An exit code of 1 with a whole answer means images that could not be read.
    whole = done.code == 0 or done.code == STOPPED or done.out.lstrip().startswith("{")
    if done.code not in accepted or not whole:
        how = f"ended by signal {-done.code}" if done.code < 0 else f"ended with exit code {done.code}"
        raise ProgramError(_message(done) or f"stoker {command} {how}", done.code)
    return done


def _execute(command: str, words: list[str], show: bool) -> tuple[_Done, int]:
    # A session of its own: a terminal would send Ctrl-C to both, and a second one means "end at once" to the program.
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               encoding="utf-8", errors="replace", env=_environment(), start_new_session=True)
    texts: tuple[list[str], list[str]] = ([], [])
    readers = [threading.Thread(target=_collect, args=(stream, text, screen if show else None), daemon=True)
               for stream, text, screen in zip((process.stdout, process.stderr), texts, (sys.stdout, sys.stderr))]
    for reader in readers:
        reader.start()
    interrupts = 0
    try:
        while process.returncode is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                interrupts += 1
                process.send_signal(signal.SIGINT)
        for reader in readers:
            reader.join()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    return _Done(command, process.returncode, "".join(texts[0]), "".join(texts[1])), interrupts


def _collect(stream: IO[str], into: list[str], screen: IO[str] | None) -> None:
    for line in stream:
        into.append(line)
        if screen is not None:
            screen.write(line)
            screen.flush()
    stream.close()


def _environment() -> dict[str, str]:
    """The program looks for LibTorch in the active environment; this Python's may be used without being active."""
    found = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        found.setdefault("VIRTUAL_ENV", sys.prefix)
    return found


def _flag(command: str, known: type, name: str, value: Any) -> list[str]:
    kinds = known.__annotations__
    if name not in kinds:
        near = difflib.get_close_matches(name, kinds, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"`stoker {command} --help` lists all."
        raise TypeError(f"stoker {command} has no option {name!r}. {hint}")
    flag = f"--{name.replace('_', '-')}"
    kind = str(getattr(kinds[name], "__forward_arg__", kinds[name]))
    if value is None:
        return []
    if kind == "bool":
        if not isinstance(value, bool):
            raise TypeError(f"{name} of stoker {command}: expected True or False, got {value!r}")
        # The one switch that is on by itself.
        return [flag] if value else ["--no-freeze-norms"] if name == "freeze_norms" else []
    if isinstance(value, bool):
        if kind != "bool | str":
            raise TypeError(f"{name} of stoker {command}: expected {kind}, got {value!r}")
        value = "on" if value else "off"
    if "Sequence" in kind and not isinstance(value, (int, float)):
        return [flag, *map(_text, value)]
    if isinstance(value, (list, tuple)):
        value = ",".join(map(_text, value))
    return [f"{flag}={_text(value)}"]


def _text(value: Any) -> str:
    if hasattr(value, "to_policy"):
        return value.to_policy()
    if isinstance(value, float):
        return repr(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _message(done: _Done) -> str:
    lines = [line for line in done.err.splitlines() if line and not line.startswith("Run with --help")]
    return re.sub(r"^stoker: ", "", "\n".join(lines))


def _warn(done: _Done) -> None:
    if done.code:
        warnings.warn(_message(done) or f"stoker {done.command}: images could not be read", RuntimeWarning, stacklevel=3)


def _printed_object(done: _Done) -> dict[str, Any]:
    return json.loads(done.out)


def _run_folder(text: str) -> pathlib.Path | None:
    """Of the line "run  FOLDER", or of a cross-validation "report  FOLDER/report.html"."""
    if found := re.search(r"^run +(\S.*)$", text, re.M):
        return pathlib.Path(found[1])
    found = re.search(r"^report +(\S.*)$", text, re.M)
    return pathlib.Path(found[1]).parent if found else None


def _read_json(path: pathlib.Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _read_rows(path: pathlib.Path) -> list[dict[str, float]]:
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [{key.strip(): _number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return float("nan")  # an empty cell: a figure that this task does not have
