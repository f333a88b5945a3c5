"""Transforms of values, not of places; for stoker.transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._policy_text import Range, call, number, pair, refuse, require, square_side
from ._transform import Transform, WithProbability, probability


class ColorJitter(WithProbability):
    """Changes brightness, contrast, saturation and hue in random order.

    >>> str(ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1))
    'colour_jitter(0.4,0.4,0.4,0.1)'

    A range that is not symmetric is possible where it is the only one:

    >>> str(ColorJitter(brightness=(0.5, 2)))
    'brightness(0.5,2)'
    """

    def __init__(self, brightness: Range = 0.0, contrast: Range = 0.0, saturation: Range = 0.0, hue: Range = 0.0) -> None:
        given = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}
        distances = {name: _distance(name, value) for name, value in given.items()}
        odd = [name for name, distance in distances.items() if distance is None]
        if not odd:
            self._set("colour_jitter", *(distance or 0 for distance in distances.values()), p=1)
            return
        if len(odd) > 1 or any(distances[name] for name in given if name != odd[0]):
            middle = 0 if odd[0] == "hue" else 1
            refuse(f"ColorJitter: {odd[0]} beside others must be symmetric about {middle}", "one number", given[odd[0]],
                    f"Operation({odd[0]!r}, low, high) is possible too, one after the other.")
        self._set(odd[0], *pair("ColorJitter", odd[0], given[odd[0]]), p=1)


def _distance(name: str, value: Range) -> float | None:
    """x of a range that torchvision writes as one number x; None where it is no such range."""
    if isinstance(value, (int, float)):
        return value
    low, high = pair("ColorJitter", name, value)
    x = high if name == "hue" else high - 1
    expected = -x if name == "hue" else max(0.0, 1 - x)
    return x if x >= 0 and math.isclose(low, expected, abs_tol=1e-12) else None


class RandomGrayscale(Transform):
    """Makes colours grey, in three equal channels.

    >>> str(RandomGrayscale(0.2))
    'greyscale(0.2)'
    """

    def __init__(self, p: float = 0.1) -> None:
        self._operations = (f"greyscale({number(probability(self, p))})",)


class Grayscale(Transform):
    """Grey, in three equal channels.

    >>> str(Grayscale(3))
    'greyscale(1)'
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        require("Grayscale", "num_output_channels", num_output_channels, [3], "For one channel, set `channels` to 1 where files are read.")
        self._operations = ("greyscale(1)",)


class RandomSolarize(WithProbability):
    """Inverts bytes from the threshold on.

    >>> str(RandomSolarize(128, p=0.2))
    'solarize(128,0.2)'
    """

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        self._set("solarize", threshold, p=p)


class RandomPosterize(WithProbability):
    """Keeps only the highest bits.

    >>> str(RandomPosterize(4))
    'posterize(4,0.5)'
    """

    def __init__(self, bits: int, p: float = 0.5) -> None:
        self._set("posterize", bits, p=p)


class RandomAutocontrast(WithProbability):
    """Stretches each channel to the whole scale.

    >>> str(RandomAutocontrast())
    'autocontrast(0.5)'
    """

    def __init__(self, p: float = 0.5) -> None:
        self._set("autocontrast", p=p)


class RandomEqualize(WithProbability):
    """Spreads the values of each channel evenly over the scale.

    >>> str(RandomEqualize(1))
    'equalize()'
    """

    def __init__(self, p: float = 0.5) -> None:
        self._set("equalize", p=p)


class RandomInvert(WithProbability):
    """Turns values into their negatives.

    >>> str(RandomInvert())
    'invert(0.5)'
    """

    def __init__(self, p: float = 0.5) -> None:
        self._set("invert", p=p)


class RandomAdjustSharpness(WithProbability):
    """Blends with a smoothed version (below 1) or away from it (above 1).

    >>> str(RandomAdjustSharpness(2))
    'sharpness(2,2,0.5)'
    """

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        self._set("sharpness", sharpness_factor, sharpness_factor, p=p)


class GaussianBlur(WithProbability):
    """Blurs with a square kernel.

    >>> str(GaussianBlur(23, sigma=(0.1, 2.0)))
    'blur(23,0.1,2)'
    """

    def __init__(self, kernel_size: int | Sequence[int], sigma: Range = (0.1, 2.0)) -> None:
        size = square_side("GaussianBlur", kernel_size)
        if size % 2 == 0:
            refuse("GaussianBlur: kernel_size has a middle", "an odd number", size)
        low, high = (sigma, sigma) if isinstance(sigma, (int, float)) else pair("GaussianBlur", "sigma", sigma)
        self._set("blur", size, low, high, p=1)


class RandomErasing(Transform):
    """Covers a random box with a byte, before normalisation; "random" means random bytes.

    >>> str(RandomErasing(0.25))
    'erase(0.25)'
    >>> str(RandomErasing(0.25, value="random"))
    'erase(0.25,0.02,0.33,0.3,3.3,-1)'
    """

    def __init__(self, p: float = 0.5, scale: Sequence[float] = (0.02, 0.33), ratio: Sequence[float] = (0.3, 3.3),
                 value: float | str = 0, inplace: bool = False) -> None:
        if isinstance(value, str):
            require("RandomErasing", "value", value, ["random"])
        elif not isinstance(value, (int, float)) or value < 0:
            refuse("RandomErasing: value is one byte for all channels", "0 to 255 or 'random'", value)
        byte = -1 if isinstance(value, str) else value
        area, shape = pair("RandomErasing", "scale", scale), pair("RandomErasing", "ratio", ratio)
        self._operations = (call("RandomErasing", "erase", probability(self, p), *area, *shape, byte),)
