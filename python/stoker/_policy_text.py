"""Text of operations from the arguments that torchvision has, checked; for stoker.transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, Union

from ._operations import OPERATIONS

Range = Union[float, Sequence[float]]  # one number x means from -x to x
FILTERS = {"nearest": 0, "nearest-exact": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4}  # as Pillow numbers them


def refuse(what: str, expected: str, found: object, hint: str = "") -> NoReturn:
    raise ValueError(f"{what}. Expected {expected}, got {found!r}." + (f" {hint}" if hint else ""))


def number(value: float) -> str:
    """The shortest text that reads back as the same number: 224, 0.5, 1e-05."""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def call(owner: str, name: str, *arguments: float) -> str:
    """Text of one operation, checked against its ranges; trailing defaults are omitted."""
    parameters = OPERATIONS[name]
    if len(arguments) > len(parameters):
        refuse(f"{owner}: too many arguments for {name}", f"at most {len(parameters)}", len(arguments))
    for parameter, value in zip(parameters, arguments):
        within = isinstance(value, (int, float)) and parameter.minimum <= value <= parameter.maximum  # NaN is not
        if not within or (parameter.whole and not float(value).is_integer()):
            whole = "a whole number, " if parameter.whole else ""
            limits = f"{whole}{number(parameter.minimum)} to {number(parameter.maximum)}"
            refuse(f"{owner}: {parameter.name} of {name} is out of range", limits, value)
    for i in range(len(arguments) - 1):
        low, high = parameters[i].name, parameters[i + 1].name
        if low.endswith("low") and high == f"{low[:-3]}high" and arguments[i] > arguments[i + 1]:
            refuse(f"{owner}: the range of {name} is empty", f"{low} <= {high}", tuple(arguments[i : i + 2]))
    kept = list(arguments)
    while kept and kept[-1] == parameters[len(kept) - 1].default:
        kept.pop()
    if len(kept) < len(parameters) and parameters[len(kept)].default is None:
        needed = sum(parameter.default is None for parameter in parameters)
        refuse(f"{owner}: too few arguments for {name}", f"at least {needed}", len(arguments))
    return f"{name}({','.join(map(number, kept))})"


def require(owner: str, argument: str, value: object, accepted: Sequence[object], hint: str = "") -> None:
    if not any(value is one or value == one for one in accepted):
        refuse(f"{owner}: cannot do {argument}={value!r}", f"{argument}={accepted[0]!r}", value, hint)


def filter_number(owner: str, interpolation: object) -> int:
    """Pillow's number of a filter: a name, torchvision's InterpolationMode, or Pillow's Resampling."""
    value = getattr(interpolation, "value", interpolation)
    if isinstance(value, str) and value.lower() in FILTERS:
        return FILTERS[value.lower()]
    if isinstance(value, int) and value in FILTERS.values():
        return int(value)
    refuse(f"{owner}: unknown interpolation", f"one of {', '.join(FILTERS)}", interpolation)


def require_bilinear(owner: str, interpolation: object) -> None:
    if filter_number(owner, interpolation) != FILTERS["bilinear"]:
        refuse(f"{owner}: cannot do this interpolation", "'bilinear'", getattr(interpolation, "value", interpolation),
               "Only Resize has the other filters.")


def require_black(owner: str, fill: object) -> None:
    flat = fill.values() if isinstance(fill, dict) else [fill]
    for value in flat:
        if value is not None and any(part != 0 for part in (value if isinstance(value, (list, tuple)) else [value])):
            refuse(f"{owner}: cannot fill with this colour", "fill=0", fill)


def pair(owner: str, argument: str, value: Range, centre: float = 0.0) -> tuple[float, float]:
    """From torchvision's "x or (low, high)"."""
    if isinstance(value, (int, float)):
        if value < 0:
            refuse(f"{owner}: {argument} as one number is a distance to both sides", "0 or more", value)
        return centre - value, centre + value
    if len(value) != 2:
        refuse(f"{owner}: {argument} is a range", "one number or (low, high)", value)
    return value[0], value[1]


def sides_of(owner: str, size: int | Sequence[int]) -> tuple[int, ...]:
    """(side,) for one number, (height, width) for two."""
    sides = (size,) if isinstance(size, int) else tuple(size)
    if len(sides) not in (1, 2) or not all(isinstance(side, int) for side in sides):
        refuse(f"{owner}: size is in pixels", "a whole number or (height, width)", size)
    return sides


def square_side(owner: str, size: int | Sequence[int]) -> int:
    sides = sides_of(owner, size)
    if sides[0] != sides[-1]:
        refuse(f"{owner}: cannot make images that are not square", "equal height and width", size, "Resize((height, width)) can.")
    return sides[0]
