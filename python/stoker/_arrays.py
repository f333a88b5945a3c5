"""Which arrays a feed gives, and in which memory."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any, Callable, NamedTuple

_NUMPY, _CAPSULE, _DLPACK = 0, 1, 2


class Arrays(NamedTuple):
    kind: int
    channels_first: bool  # shown so although they lie the other way
    converter: Callable | None  # called with each array
    make_memory: Callable[[int], tuple[Any, int]] | None


def choose(framework: str | None, dtype: str, layout: str, pin_memory: Any) -> Arrays:
    framework = framework or _installed()
    lies_last = dtype == "uint8" or layout == "channels_last"
    if framework == "torch":
        import torch
        from torch.utils.dlpack import from_dlpack
        # Shape (sample, channel, row, column) with the strides of torch.channels_last.
        return Arrays(_CAPSULE, lies_last, from_dlpack, _pinned(torch, pin_memory))
    channels_first = lies_last and layout == "channels_first"
    if framework == "numpy":
        import numpy  # noqa: F401  an error here, not in the first batch
        return Arrays(_NUMPY, channels_first, None, None)
    if framework == "jax":
        from jax.dlpack import from_dlpack
        return Arrays(_DLPACK, channels_first, from_dlpack, None)
    return Arrays(_DLPACK, channels_first, None, None)


def _installed() -> str:
    """torch where the program has imported it: that takes a second."""
    if "torch" in sys.modules:
        return "torch"
    for name in ("numpy", "torch"):
        if importlib.util.find_spec(name) is not None:
            return name
    raise ImportError("batches need NumPy or torch, and neither is installed. Run pip install numpy, or pass framework=\"dlpack\".")


def _pinned(torch: Any, wanted: Any) -> Callable[[int], tuple[Any, int]] | None:
    if not wanted or (wanted == "auto" and not torch.cuda.is_available()):
        return None

    def make(size: int) -> tuple[Any, int]:
        memory = torch.empty(size, dtype=torch.uint8, pin_memory=True)
        return memory, memory.data_ptr()

    return make
