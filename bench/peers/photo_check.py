"""Do all sides do the same to the photographs? An image for the eye, figures for the program."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from . import check
from .photos import DEVIATION, MEAN, SIDE

SAMPLES = 768  # each photograph about three times
SHOWN = check.SHOWN
TOLERANCE = 0.04  # estimated: another set of random crops moves the figures by 1 %
DETAIL_TOLERANCE = 0.15  # seen on 64 images: a box keeps 10 % more, none 20 % more
HALF = SIDE // 2  # pixels of a shown image


@dataclass
class Look:
    """In [0, 1], with the normalisation taken back, whatever the order of the images.

    Red and blue see channels that changed places. Detail is the mean step between neighbours: it
    sees crops of another size, a missing resize and antialiasing, so it is held against sides of
    the same kind only. Mirroring leaves no trace in any of them: that is left to the eye.
    """

    name: str
    like: str
    mean: float
    deviation: float
    red: float
    blue: float
    detail: float

    @classmethod
    def of(cls, result, images):
        check.require_floats(result.name, images, (3, SIDE, SIDE))
        values = undo(images)
        red, blue = values[:, 0].mean(), values[:, 2].mean()
        detail = np.abs(values[..., 1:] - values[..., :-1]).mean()
        figures = map(float, (values.mean(), values.std(), red, blue, detail))
        return cls(result.name, result.side.like, *figures)


def undo(images):
    """The normalisation: back to [0, 1]."""
    return images * DEVIATION[:, None, None] + MEAN[:, None, None]


def shown(images):
    return check.to_bytes(undo(images[:SHOWN]))[:, ::2, ::2]


def originals(context):
    images = []
    for file in context.once[:SHOWN]:
        with Image.open(file) as image:
            images.append(np.asarray(image.convert("RGB").resize((HALF, HALF))))
    return np.stack(images)


def differences(looks):
    found = check.differences(looks, ("mean", "deviation", "red", "blue"), TOLERANCE)
    for like in dict.fromkeys(look.like for look in looks):
        same = [look for look in looks if look.like == like]
        found += check.differences(same, ("detail",), DETAIL_TOLERANCE)
    return found
