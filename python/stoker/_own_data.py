"""What a feed may be made of: names and paths, objects with __getitem__, tables with a column of images."""

from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple, Sequence

from . import _feed

_IMAGE_NAMES = ("image", "img", "jpg", "png", "webp", "image_bytes", "bytes", "x")
_LABEL_NAMES = ("label", "labels", "fine_label", "class", "cls", "target", "y")
_NO_CLASS = -1


class ImageOptions(NamedTuple):
    """How images are found and decoded."""

    channels: int | None = None
    depth: int = 8
    columns: dict[str, Any] = {}


def open_source(data: Any, split: str, options: ImageOptions) -> _feed.Source:
    if isinstance(data, (str, os.PathLike)):
        columns = {role: [names] if isinstance(names, str) else list(names) for role, names in options.columns.items()}
        return _feed.open_data(os.fspath(data), split, options.channels or 3, options.depth, columns)
    if options.depth != 8:
        raise _feed.OptionError("images of 16 bits must be files: expected `depth` 8 for data of this kind")
    module = type(data).__module__.partition(".")[0]
    if module == "datasets" and hasattr(data, "_indices"):
        from . import _tables
        return _tables.from_hugging_face(data, options)
    if module in ("pyarrow", "pandas"):
        from . import _tables
        return _tables.from_table(data, options)
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
        raise TypeError(f"cannot make a feed of {type(data).__name__}: expected a name or path, a dataset with __len__ and "
                        "__getitem__, or a table with a column of images")
    return _from_map(data, options.channels)


def _from_map(data: Any, channels: int | None) -> _feed.Source:
    if len(data) == 0:
        raise ValueError("the dataset is empty: expected at least one sample")
    if channels is None:  # as the first image has them
        _, height, _, channels, _ = pack(data[0], None)
        channels = channels if height else 3
    return _feed.map_source(len(data), _fetcher(data, channels), _classes(data), type(data).__name__, channels)


def _fetcher(data: Any, channels: int) -> Callable[[int], tuple]:
    return lambda index: pack(data[index], channels)


def _classes(data: Any) -> list[str]:
    classes = getattr(data, "classes", None)
    return [str(name) for name in classes] if isinstance(classes, Sequence) and not isinstance(classes, str) else []


def pack(item: Any, channels: int | None) -> tuple[Any, int, int, int, int]:
    """(buffer, rows, columns, channels, label) of a sample; 0 rows: the bytes of a file."""
    if isinstance(item, dict):
        image, label = _value(item, _IMAGE_NAMES, "image"), _value(item, _LABEL_NAMES, None)
    elif isinstance(item, (tuple, list)) and len(item) >= 2:
        image, label = item[0], item[1]
    else:
        image, label = item, None
    return (*_pixels(image, channels), _NO_CLASS if label is None else int(label))


def _value(item: dict, names: tuple[str, ...], needed: str | None) -> Any:
    for name in names:
        if name in item:
            return item[name]
    if needed is None:
        return None
    raise KeyError(f"the sample has no image: expected one of {', '.join(names)}, got {', '.join(map(str, item))}")


def _pixels(image: Any, channels: int | None) -> tuple[Any, int, int, int]:
    if isinstance(image, dict) and "bytes" in image:  # of a Hugging Face dataset that does not decode
        image = image["bytes"]
    if isinstance(image, (bytes, bytearray)) or (isinstance(image, memoryview) and image.ndim == 1):
        return image, 0, 0, 0
    if hasattr(image, "getbands"):  # a PIL image
        bands = {1: "L", 3: "RGB", 4: "RGBA"}[channels] if channels else ("L" if len(image.getbands()) == 1 else "RGB")
        image = image if image.mode == bands else image.convert(bands)
        return image.tobytes(), image.height, image.width, len(bands)
    return _array(image)


def _array(image: Any) -> tuple[Any, int, int, int]:
    import numpy
    planes = type(image).__module__ == "torch"
    array = numpy.asarray(image)
    if planes and array.ndim == 3:
        array = array.transpose(1, 2, 0)
    if array.dtype != numpy.uint8 or array.ndim not in (2, 3):
        raise TypeError(f"cannot use an array of {array.dtype} with {array.ndim} axes as an image: expected uint8 with rows, "
                        "columns and channels")
    rows, columns, channels = array.shape if array.ndim == 3 else (*array.shape, 1)
    return numpy.ascontiguousarray(array).data.cast("B"), rows, columns, channels
