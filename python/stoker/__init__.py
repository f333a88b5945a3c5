"""Stoker trains image classifiers. This package carries its program, libraries, headers and CMake files.

`python -m stoker` runs the program, `python -m stoker --cmake-prefix` prints the folder for CMAKE_PREFIX_PATH.
"""

from ._version import __version__

__all__ = ["__version__"]
