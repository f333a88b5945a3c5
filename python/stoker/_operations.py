"""Operations of a policy and the ranges of their parameters. Made by scripts/python_options; do not edit."""

from __future__ import annotations

from typing import NamedTuple


class Parameter(NamedTuple):
    """A number that an operation takes."""

    name: str
    minimum: float
    maximum: float
    whole: bool
    default: float | None


OPERATIONS: dict[str, tuple[Parameter, ...]] = {
    "random_resized_crop": (
        Parameter("size", 1, 4096, True, None),
        Parameter("area_low", 0.0001, 1, False, 0.08),
        Parameter("area_high", 0.0001, 1, False, 1),
        Parameter("ratio_low", 0.01, 100, False, 0.75),
        Parameter("ratio_high", 0.01, 100, False, 1.3333333333333333),
    ),
    "resize": (
        Parameter("height", 1, 4096, True, None),
        Parameter("width", 1, 4096, True, None),
        Parameter("filter", 0, 4, True, 2),
    ),
    "resize_crop": (
        Parameter("shorter", 1, 4096, True, None),
        Parameter("size", 1, 4096, True, None),
        Parameter("filter", 0, 4, True, 2),
    ),
    "rotate": (
        Parameter("low", -360, 360, False, None),
        Parameter("high", -360, 360, False, None),
    ),
    "shift": (
        Parameter("low", -4096, 4096, False, None),
        Parameter("high", -4096, 4096, False, None),
    ),
    "skew": (
        Parameter("low", -10, 10, False, None),
        Parameter("high", -10, 10, False, None),
    ),
    "scale": (
        Parameter("low", 0.01, 100, False, None),
        Parameter("high", 0.01, 100, False, None),
    ),
    "hflip": (
        Parameter("p", 0, 1, False, 0.5),
    ),
    "vflip": (
        Parameter("p", 0, 1, False, 0.5),
    ),
    "shear_x": (
        Parameter("low", -10, 10, False, None),
        Parameter("high", -10, 10, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "shear_y": (
        Parameter("low", -10, 10, False, None),
        Parameter("high", -10, 10, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "translate_x": (
        Parameter("low", -1, 1, False, None),
        Parameter("high", -1, 1, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "translate_y": (
        Parameter("low", -1, 1, False, None),
        Parameter("high", -1, 1, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "perspective": (
        Parameter("distortion", 0, 1, False, 0.5),
        Parameter("p", 0, 1, False, 0.5),
    ),
    "brightness": (
        Parameter("low", 0, 100, False, None),
        Parameter("high", 0, 100, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "contrast": (
        Parameter("low", 0, 100, False, None),
        Parameter("high", 0, 100, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "saturation": (
        Parameter("low", 0, 100, False, None),
        Parameter("high", 0, 100, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "hue": (
        Parameter("low", -0.5, 0.5, False, None),
        Parameter("high", -0.5, 0.5, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "colour_jitter": (
        Parameter("brightness", 0, 10, False, 0),
        Parameter("contrast", 0, 10, False, 0),
        Parameter("saturation", 0, 10, False, 0),
        Parameter("hue", 0, 0.5, False, 0),
        Parameter("p", 0, 1, False, 1),
    ),
    "greyscale": (
        Parameter("p", 0, 1, False, 0.1),
    ),
    "solarize": (
        Parameter("threshold", 0, 256, False, 128),
        Parameter("p", 0, 1, False, 1),
    ),
    "posterize": (
        Parameter("bits", 1, 8, True, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "autocontrast": (
        Parameter("p", 0, 1, False, 1),
    ),
    "equalize": (
        Parameter("p", 0, 1, False, 1),
    ),
    "invert": (
        Parameter("p", 0, 1, False, 1),
    ),
    "noise": (
        Parameter("max", 0, 1, False, None),
    ),
    "blur": (
        Parameter("size", 1, 51, True, None),
        Parameter("low", 0.01, 100, False, None),
        Parameter("high", 0.01, 100, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "sharpness": (
        Parameter("low", 0, 100, False, None),
        Parameter("high", 0, 100, False, None),
        Parameter("p", 0, 1, False, 1),
    ),
    "erase": (
        Parameter("p", 0, 1, False, 0.5),
        Parameter("area_low", 0, 1, False, 0.02),
        Parameter("area_high", 0, 1, False, 0.33),
        Parameter("ratio_low", 0.01, 100, False, 0.3),
        Parameter("ratio_high", 0.01, 100, False, 3.3),
        Parameter("value", -1, 255, True, 0),
    ),
    "randaugment": (
        Parameter("changes", 0, 16, True, 2),
        Parameter("magnitude", 0, 30, False, 9),
        Parameter("deviation", 0, 30, False, 0),
    ),
    "trivialaugment": (
    ),
    "augmix": (
        Parameter("severity", 1, 10, True, 3),
        Parameter("width", 1, 16, True, 3),
        Parameter("depth", -1, 16, True, -1),
        Parameter("alpha", 0.01, 100, False, 1),
    ),
}
