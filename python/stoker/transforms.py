"""Augmentation as objects with the names and arguments of torchvision.transforms.v2.

An object becomes text of Stoker's policies (``str(t)``, ``t.to_policy()``), which the feed and the program execute in C++. There is
nothing to call: pass the object, or its text, as ``augment`` of a feed or as ``aa`` of ``stoker.train``.

>>> import stoker.transforms as T
>>> train = T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4)])
>>> str(train)
'random_resized_crop(224),hflip(0.5),colour_jitter(0.4,0.4,0.4)'
>>> T.Compose([T.Resize(256), T.CenterCrop(224)]).to_policy()
'resize_crop(256,224)'

Arguments that Stoker cannot do raise ValueError when the object is made; ``docs/operations.md`` lists all operations. Three things
differ from torchvision everywhere: geometry is bilinear and black fills (torchvision's default is the nearest pixel), values are
bytes before normalisation, and random numbers are a function of seed, epoch and sample.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from ._operations import OPERATIONS
from ._pixel_transforms import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomErasing,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from ._policy_text import Range, call, filter_number, number, pair, refuse, require, require_bilinear, require_black, sides_of, square_side
from ._transform import Transform, WithProbability, probability

__all__ = [
    "AugMix", "CenterCrop", "ColorJitter", "Compose", "GaussianBlur", "Grayscale", "Identity", "Normalize", "Operation", "RandAugment",
    "RandomAdjustSharpness", "RandomAffine", "RandomApply", "RandomAutocontrast", "RandomEqualize", "RandomErasing", "RandomGrayscale",
    "RandomHorizontalFlip", "RandomInvert", "RandomPerspective", "RandomPosterize", "RandomResizedCrop", "RandomRotation",
    "RandomSolarize", "RandomVerticalFlip", "Resize", "Transform", "TrivialAugmentWide",
]

FRAMINGS = ("random_resized_crop", "resize", "resize_crop")  # give images their size, so they come first
MISSING = {  # names of torchvision that Stoker has no operation for
    "AutoAugment": "TrivialAugmentWide() or RandAugment()",
    "ElasticTransform": "RandomAffine() or RandomPerspective()",
    "FiveCrop": "`views` of the feed",
    "GaussianNoise": "Operation('noise', 0.1), which is uniform",
    "Pad": "Resize((height, width))",
    "RandomChannelPermutation": "ColorJitter()",
    "RandomCrop": "RandomResizedCrop()",
    "RandomPhotometricDistort": "ColorJitter()",
    "RandomZoomOut": "Operation('scale', 0.5, 1)",
    "TenCrop": "`views` of the feed",
    "ToDtype": "`dtype` of the feed",
    "ToImage": "nothing: the feed gives tensors",
    "ToTensor": "nothing: the feed gives tensors",
}


def __getattr__(name: str) -> Any:
    if name in MISSING:
        raise AttributeError(f"Stoker has no {name}. Use {MISSING[name]}; `stoker ops` lists all operations.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Operation(Transform):
    """Any operation of `stoker ops`, by its own name.

    >>> str(Operation("noise", 0.1))
    'noise(0.1)'
    >>> str(Operation("shift", -2, 2))
    'shift(-2,2)'
    """

    def __init__(self, name: str, *arguments: float) -> None:
        if name not in OPERATIONS:
            near = difflib.get_close_matches(name, OPERATIONS, 1)
            refuse("Operation: unknown name", "an operation of `stoker ops`", name, f"Did you mean {near[0]!r}?" if near else "")
        if len(arguments) == 1 and arguments[0] >= 0 and [p.name for p in OPERATIONS[name]][:2] == ["low", "high"]:
            if OPERATIONS[name][0].minimum < 0:  # one number alone means from minus it to plus it
                arguments = (-arguments[0], arguments[0])
        self._operations = (call("Operation", name, *arguments),)


class Identity(Transform):
    """Images as they are.

    >>> str(Identity())
    ''
    """


class Resize(Transform):
    """Resizes to (height, width), or with one number the shorter side, which needs a CenterCrop behind it.

    >>> str(Resize((224, 224)))
    'resize(224,224)'
    >>> str(Resize((64, 96), interpolation="bicubic"))
    'resize(64,96,3)'
    """

    def __init__(self, size: int | Sequence[int], interpolation: object = "bilinear", max_size: int | None = None,
                 antialias: bool = True) -> None:
        require("Resize", "max_size", max_size, [None], "All images of a batch have the same size.")
        require("Resize", "antialias", antialias, [True], "`antialias` is an option of the feed.")
        sides, self._filter = sides_of("Resize", size), filter_number("Resize", interpolation)
        self._shorter = sides[0] if len(sides) == 1 else None
        self._operations = () if self._shorter else (call("Resize", "resize", *sides, self._filter),)

    def to_policy(self) -> str:
        if self._shorter:
            refuse("Resize: one number keeps the shape, and images of a batch have the same size", "(height, width)", self._shorter,
                    "Or put CenterCrop(size) behind it, in a Compose.")
        return super().to_policy()


class CenterCrop(Transform):
    """The square in the middle; directly behind Resize(shorter side).

    >>> str(Compose([Resize(256), CenterCrop(224)]))
    'resize_crop(256,224)'
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self._side = square_side("CenterCrop", size)

    def to_policy(self) -> str:
        refuse("CenterCrop: cannot stand alone", "Compose([Resize(shorter side), CenterCrop(size)])", "CenterCrop")

    def __repr__(self) -> str:
        return f"<stoker.transforms.CenterCrop {self._side}>"


class RandomResizedCrop(Transform):
    """A part of random area and shape, resized to a square.

    >>> str(RandomResizedCrop(224, scale=(0.35, 1)))
    'random_resized_crop(224,0.35)'
    """

    def __init__(self, size: int | Sequence[int], scale: Sequence[float] = (0.08, 1.0), ratio: Sequence[float] = (3 / 4, 4 / 3),
                 interpolation: object = "bilinear", antialias: bool = True) -> None:
        name = type(self).__name__
        require_bilinear(name, interpolation)
        require(name, "antialias", antialias, [True], "`antialias` is an option of the feed.")
        area, shape = pair(name, "scale", scale), pair(name, "ratio", ratio)
        self._operations = (call(name, "random_resized_crop", square_side(name, size), *area, *shape),)


class RandomHorizontalFlip(Transform):
    """Mirrors left to right.

    >>> str(RandomHorizontalFlip())
    'hflip(0.5)'
    """

    def __init__(self, p: float = 0.5) -> None:
        self._operations = (f"hflip({number(probability(self, p))})",)


class RandomVerticalFlip(Transform):
    """Mirrors top to bottom.

    >>> str(RandomVerticalFlip(0.2))
    'vflip(0.2)'
    """

    def __init__(self, p: float = 0.5) -> None:
        self._operations = (f"vflip({number(probability(self, p))})",)


class RandomRotation(Transform):
    """Turns about the middle; bilinear, black fills.

    >>> str(RandomRotation(15))
    'rotate(-15,15)'
    """

    def __init__(self, degrees: Range, interpolation: object = "bilinear", expand: bool = False, center: Sequence[float] | None = None,
                 fill: object = 0) -> None:
        require_bilinear("RandomRotation", interpolation)
        require("RandomRotation", "expand", expand, [False], "All images of a batch have the same size.")
        require("RandomRotation", "center", center, [None])
        require_black("RandomRotation", fill)
        self._operations = (call("RandomRotation", "rotate", *pair("RandomRotation", "degrees", degrees)),)


class RandomAffine(Transform):
    """Scales, turns and moves in one pass. Distances are cut to whole pixels, where torchvision rounds them.

    >>> str(RandomAffine(10, translate=(0.1, 0.2), scale=(0.8, 1.2)))
    'scale(0.8,1.2),rotate(-10,10),translate_x(-0.1,0.1),translate_y(-0.2,0.2)'
    """

    def __init__(self, degrees: Range, translate: Sequence[float] | None = None, scale: Sequence[float] | None = None,
                 shear: Range | None = None, interpolation: object = "bilinear", fill: object = 0,
                 center: Sequence[float] | None = None) -> None:
        name = "RandomAffine"
        require_bilinear(name, interpolation)
        require_black(name, fill)
        require(name, "center", center, [None])
        if shear is not None and any(pair(name, "shear", shear) if isinstance(shear, (int, float)) else shear):
            refuse(f"{name}: cannot shear about the middle", "shear=None", shear,
                    "Operation('shear_x', low, high) does it by the upper left corner, in pixels a row.")
        operations = []
        if scale is not None:
            operations.append(call(name, "scale", *pair(name, "scale", scale)))
        low, high = pair(name, "degrees", degrees)
        if low or high:
            operations.append(call(name, "rotate", -high, -low))  # its angles are clockwise, those of RandomRotation are not
        for axis, part in zip("xy", translate or ()):
            if part:
                operations.append(call(name, f"translate_{axis}", -part, part))
        self._operations = tuple(operations)


class RandomPerspective(WithProbability):
    """Looks at the image from a random side; bilinear, black fills.

    >>> str(RandomPerspective(0.3, p=1))
    'perspective(0.3,1)'
    """

    def __init__(self, distortion_scale: float = 0.5, p: float = 0.5, interpolation: object = "bilinear", fill: object = 0) -> None:
        require_bilinear("RandomPerspective", interpolation)
        require_black("RandomPerspective", fill)
        self._set("perspective", distortion_scale, p=p)


class RandAugment(Transform):
    """Some of fourteen changes, all of one magnitude; `magnitude_std` draws it anew for each.

    >>> str(RandAugment(2, 10, magnitude_std=0.5))
    'randaugment(2,10,0.5)'
    """

    def __init__(self, num_ops: int = 2, magnitude: float = 9, num_magnitude_bins: int = 31, interpolation: object = "bilinear",
                 fill: object = None, *, magnitude_std: float = 0.0) -> None:
        require("RandAugment", "num_magnitude_bins", num_magnitude_bins, [31])
        require_bilinear("RandAugment", interpolation)
        require_black("RandAugment", fill)
        self._operations = (call("RandAugment", "randaugment", num_ops, magnitude, magnitude_std),)


class TrivialAugmentWide(Transform):
    """One of fourteen changes at a magnitude drawn from a wide range.

    >>> str(TrivialAugmentWide())
    'trivialaugment()'
    """

    def __init__(self, num_magnitude_bins: int = 31, interpolation: object = "bilinear", fill: object = None) -> None:
        require("TrivialAugmentWide", "num_magnitude_bins", num_magnitude_bins, [31])
        require_bilinear("TrivialAugmentWide", interpolation)
        require_black("TrivialAugmentWide", fill)
        self._operations = ("trivialaugment()",)


class AugMix(Transform):
    """Mixes the image with several differently changed versions of it.

    >>> str(AugMix(severity=5))
    'augmix(5)'
    """

    def __init__(self, severity: int = 3, mixture_width: int = 3, chain_depth: int = -1, alpha: float = 1.0, all_ops: bool = True,
                 interpolation: object = "bilinear", fill: object = None) -> None:
        require("AugMix", "all_ops", all_ops, [True])
        require_bilinear("AugMix", interpolation)
        require_black("AugMix", fill)
        self._operations = (call("AugMix", "augmix", severity, mixture_width, chain_depth, alpha),)


class Normalize(Transform):
    """Mean and standard deviation per channel, of values in [0, 1]; the last of a Compose.

    It is no operation of a policy: the feed normalises as it writes a batch. `Feed(data, **t.feed_arguments())` passes it on.

    >>> Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]).feed_arguments()
    {'augment': '', 'mean': (0.485, 0.456, 0.406), 'std': (0.229, 0.224, 0.225)}
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        if len(mean) != len(std) or not mean or not all(value > 0 for value in std):
            refuse("Normalize: one mean and one standard deviation above 0 per channel", "lists of the same length", (mean, std))
        self.mean, self.std = tuple(map(float, mean)), tuple(map(float, std))

    def to_policy(self) -> str:
        refuse("Normalize: is no operation of a policy", "`mean` and `std` of the feed", self.mean,
                "Write Feed(data, **transform.feed_arguments()).")

    def feed_arguments(self) -> dict[str, Any]:
        return {"augment": "", "mean": self.mean, "std": self.std}

    def __str__(self) -> str:
        return f"Normalize({list(self.mean)}, {list(self.std)})"

    def __repr__(self) -> str:
        return f"<stoker.transforms.{self}>"

    def __hash__(self) -> int:
        return hash((self.mean, self.std))


class RandomApply(Transform):
    """One transform with a probability.

    >>> str(RandomApply([ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8))
    'colour_jitter(0.4,0.4,0.4,0.1,0.8)'
    """

    def __init__(self, transforms: Sequence[Transform], p: float = 0.5) -> None:
        one = transforms[0] if len(transforms) == 1 else None
        parts = getattr(one, "_parts", None)
        if one is None or parts is None or one.to_policy() != call("RandomApply", parts[0], *parts[1], 1):
            refuse("RandomApply: needs one transform that has no probability of its own",
                    "[ColorJitter(…)], [GaussianBlur(…)] or another with p=1", list(transforms))
        self._operations = (call("RandomApply", parts[0], *parts[1], probability(self, p)),)


class Compose(Transform):
    """Transforms one after the other. What gives images their size comes first, Normalize last.

    >>> t = Compose([RandomResizedCrop(128), TrivialAugmentWide(), RandomErasing(0.1)])
    >>> t.to_policy()
    'random_resized_crop(128),trivialaugment(),erase(0.1)'
    """

    def __init__(self, transforms: Iterable[Transform]) -> None:
        self._normalize: Normalize | None = None
        operations: list[str] = []
        for transform in _joined(list(transforms)):
            if self._normalize is not None:
                refuse("Compose: Normalize is the last step", "nothing behind it", transform)
            if isinstance(transform, Compose):
                self._normalize = transform._normalize
            if isinstance(transform, Normalize):
                self._normalize = transform
            else:
                operations += transform._operations
        for place, operation in enumerate(operations):
            if place and operation.split("(")[0] in FRAMINGS:
                refuse("Compose: what gives images their size comes first", f"{operation} at the front", ",".join(operations))
        self._operations = tuple(operations)

    def to_policy(self) -> str:
        if self._normalize is not None:
            self._normalize.to_policy()
        return super().to_policy()

    def feed_arguments(self) -> dict[str, Any]:
        found: dict[str, Any] = {"augment": ",".join(self._operations)}
        if self._normalize is not None:
            found |= {"mean": self._normalize.mean, "std": self._normalize.std}
        return found

    def __str__(self) -> str:
        # With Normalize it is text that no policy parser takes, so nothing drops it silently.
        return ",".join([*self._operations, *([str(self._normalize)] if self._normalize is not None else [])])

    def __repr__(self) -> str:
        return f"<stoker.transforms.Compose {self}>"


def _joined(transforms: list[Transform]) -> list[Transform]:
    """Resize(shorter side) and the CenterCrop behind it become one."""
    found: list[Transform] = []
    for transform in transforms:
        if not isinstance(transform, Transform):
            refuse("Compose: not a transform of stoker.transforms", "an object such as RandomHorizontalFlip()", transform)
        before = found[-1] if found else None
        if isinstance(transform, CenterCrop) and isinstance(before, Resize) and before._shorter:
            if before._shorter < transform._side:
                refuse("CenterCrop: larger than the resized image", f"at most {before._shorter}", transform._side)
            found[-1] = Operation("resize_crop", before._shorter, transform._side, before._filter)
        else:
            found.append(transform)
    for transform in found:
        if isinstance(transform, (Resize, CenterCrop)):
            transform.to_policy()  # raises where it cannot stand alone
    return found
