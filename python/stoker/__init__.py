"""Stoker's data feed for Python, and its program.

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
    from ._feed import Error, OptionError, SampleError
    from .feed import Fault, Feed

# Loaded when they are first used: the program and its version need no extension.
_PLACES = {"Error": "_feed", "OptionError": "_feed", "SampleError": "_feed", "Fault": "feed", "Feed": "feed"}

__all__ = ["Error", "Fault", "Feed", "OptionError", "SampleError", "__version__"]


def __getattr__(name: str):
    if name not in _PLACES:
        raise AttributeError(f"module 'stoker' has no attribute {name!r}")
    from importlib import import_module
    try:
        value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}._feed":
            raise
        raise ImportError(f"stoker.{name} needs Python 3.11 or later, or a build with STOKER_PYTHON") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
