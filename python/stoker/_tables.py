"""Tables with a column of encoded images: Hugging Face datasets, Arrow tables, pandas data frames, Parquet files.

Images stay where Arrow has them: the extension reads its buffers.
"""

from __future__ import annotations

import os
from typing import Any, Sequence

from . import _feed
from ._own_data import _IMAGE_NAMES, _LABEL_NAMES, _NO_CLASS, ImageOptions


def from_hugging_face(data: Any, options: ImageOptions) -> _feed.Source:
    """A datasets.Dataset, with what was selected or shuffled of it."""
    features, columns = data.features, options.columns
    images = [name for name, kind in features.items() if type(kind).__name__ == "Image"]
    image = columns.get("image") or _column(list(features), _IMAGE_NAMES, images)
    classes = [name for name, kind in features.items() if type(kind).__name__ == "ClassLabel"]
    label = columns.get("label") or _column(list(features), _LABEL_NAMES, classes, needed=False)
    names = list(features[label].names) if label in classes else None
    rows = None if data._indices is None else data._indices.column(0)
    return _source(data.data.table, image, label, names, rows, options.channels, "dataset")


def from_table(data: Any, options: ImageOptions) -> _feed.Source:
    """An Arrow table, or a pandas data frame."""
    import pyarrow
    table = data if isinstance(data, pyarrow.Table) else pyarrow.Table.from_pandas(data, preserve_index=False)
    names, columns = table.column_names, options.columns
    images = [name for name in names if _is_binary(table.schema.field(name).type)]
    image = columns.get("image") or _column(names, _IMAGE_NAMES, images)
    label = columns.get("label") or _column(names, _LABEL_NAMES, [], needed=False)
    return _source(table, image, label, None, None, options.channels, "table")


def read_parquet(paths: Sequence[str | os.PathLike], options: ImageOptions) -> _feed.Source:
    """All rows of these files, in their order."""
    import pyarrow
    import pyarrow.parquet
    return from_table(pyarrow.concat_tables([pyarrow.parquet.read_table(path) for path in paths]), options)


def _column(names: list[str], usual: tuple[str, ...], typed: list[str], needed: bool = True) -> str | None:
    """The only one of its type, else the one with a usual name."""
    if len(typed) == 1:
        return typed[0]
    for name in usual:
        if name in (typed or names):
            return name
    if not needed:
        return None
    raise ValueError(f"cannot tell which column has the images: expected one of {', '.join(usual)}, got {', '.join(names)}")


def _is_binary(kind: Any) -> bool:
    import pyarrow.types as types
    if types.is_struct(kind):  # as Hugging Face stores images: {bytes, path}
        return kind.get_field_index("bytes") >= 0
    return types.is_binary(kind) or types.is_large_binary(kind)


def _chunks(column: Any, keep: list) -> list[tuple]:
    """The buffers of a column of binary or text values, as the extension takes them."""
    import pyarrow
    chunks = []
    for chunk in column.chunks:
        kind = chunk.type
        if pyarrow.types.is_null(kind):
            chunk = chunk.cast(pyarrow.binary())
        elif not any(test(kind) for test in (pyarrow.types.is_binary, pyarrow.types.is_string, pyarrow.types.is_large_binary,
                                             pyarrow.types.is_large_string)):
            raise TypeError(f"cannot read images of a column of {kind}: expected binary values")
        wide = pyarrow.types.is_large_binary(chunk.type) or pyarrow.types.is_large_string(chunk.type)
        validity, offsets, data = chunk.buffers()
        keep.append((validity, offsets, data))
        needed = (chunk.offset + len(chunk) + 1) * (8 if wide else 4)
        if len(chunk) and (offsets is None or offsets.size < needed):
            raise ValueError(f"the Arrow column is damaged: expected {needed} bytes of offsets")
        chunks.append((0 if validity is None else validity.address, 0 if offsets is None else offsets.address,
                       0 if data is None else data.address, 0 if data is None else data.size, chunk.offset, len(chunk), wide))
    return chunks


def _parts(column: Any) -> tuple[Any, Any | None]:
    """Bytes and paths of a column of images."""
    import pyarrow
    if not pyarrow.types.is_struct(column.type):
        return column, None
    members = {name: column.type.get_field_index(name) for name in ("bytes", "path")}

    def member(name: str) -> Any:
        place = members[name]
        # Arrow's own function takes the struct's missing values into account.
        return pyarrow.compute.struct_field(column, [place]) if place >= 0 else None

    import pyarrow.compute
    return member("bytes"), member("path")


def _labels(column: Any | None, names: list[str] | None, count: int) -> tuple[Any, list[str]]:
    """Numbers of 64 bits, and the names of the classes."""
    import pyarrow
    import pyarrow.compute
    if column is None:
        return pyarrow.array([_NO_CLASS] * count, pyarrow.int64()), names or []
    if pyarrow.types.is_integer(column.type):
        labels = column.cast(pyarrow.int64())
        names = names if names is not None else [str(i) for i in range((pyarrow.compute.max(labels).as_py() or 0) + 1)]
    else:
        texts = column.cast(pyarrow.string())
        names = sorted(filter(lambda text: text is not None, texts.unique().to_pylist()))
        labels = pyarrow.compute.index_in(texts, pyarrow.array(names, pyarrow.string())).cast(pyarrow.int64())
    labels = pyarrow.compute.fill_null(labels, _NO_CLASS)
    return pyarrow.concat_arrays(labels.chunks) if isinstance(labels, pyarrow.ChunkedArray) else labels, names


def _address(numbers: Any, keep: list) -> tuple[int, int]:
    """Address and number of values of 64 bits without missing ones."""
    buffer = numbers.buffers()[1]
    keep.append(buffer)
    return (0, 0) if len(numbers) == 0 else (buffer.address + 8 * numbers.offset, len(numbers))


def _source(table: Any, image: str, label: str | None, names: list[str] | None, rows: Any | None, channels: int | None,
            name: str) -> _feed.Source:
    import pyarrow
    if table.num_rows == 0 or (rows is not None and len(rows) == 0):
        raise ValueError("the dataset is empty: expected at least one sample")
    keep: list = [table]
    files, paths = _parts(table.column(image))
    labels, classes = _labels(None if label is None else table.column(label), names, table.num_rows)
    order = (0, 0)
    if rows is not None:
        order = _address(pyarrow.concat_arrays([chunk.cast(pyarrow.uint64()) for chunk in rows.chunks]), keep)
    keep.extend((files, paths, labels))
    return _feed.arrow_source(_chunks(files, keep), [] if paths is None else _chunks(paths, keep), _address(labels, keep), order,
                              keep, classes, name, channels or 3)
