"""Stoker's data feed for Python, and its program.

`Feed` gives batches, `transforms` has operations with torchvision's names, and `train`, `predict`, `evaluate` and `doctor` run the
program.

>>> import stoker
>>> with stoker.Feed("fashion-mnist", batch_size=100, framework="numpy") as feed:
...     images, labels = next(iter(feed))
>>> images.dtype, labels.dtype
(dtype('float32'), dtype('int64'))

`python -m stoker` runs the program, `python -m stoker convert` writes tables as shards, and `python -m stoker --cmake-prefix`
prints the folder for CMAKE_PREFIX_PATH.
"""

from ._version import __version__

TYPE_CHECKING = False  # of type checkers, which know the name; typing would be another import
if TYPE_CHECKING:
    from . import program, transforms
    from ._error import ProgramError
    from ._feed import Error, OptionError, SampleError
    from .feed import Fault, Feed
    from .program import doctor, evaluate, predict, train

# Loaded when they are first used: the program and its version need no extension.
_PLACES = {"Error": "_feed", "OptionError": "_feed", "SampleError": "_feed", "Fault": "feed", "Feed": "feed", "ProgramError": "_error",
           "doctor": "program", "evaluate": "program", "predict": "program", "train": "program"}
_MODULES = ("program", "transforms")

__all__ = ["Error", "Fault", "Feed", "OptionError", "ProgramError", "SampleError", "__version__", "doctor", "evaluate", "predict", "program",
           "train", "transforms"]


def __getattr__(name: str):
    from importlib import import_module
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module 'stoker' has no attribute {name!r}")
    try:
        value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}._feed":
            raise
        raise ImportError(f"stoker.{name} needs Python 3.11 or later, or a build with STOKER_PYTHON") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_MODULES})
