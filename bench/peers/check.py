"""Do all sides do the same kind of work? An image for the eye, four figures for the program."""

import statistics
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SHOWN = 12  # images per row
SAMPLES = 4096
TOLERANCE = 0.10  # of the median of all sides
FIGURES = ("mean", "deviation", "grain", "edge")
ZOOM = 2
GAP, LABEL_WIDTH = 4, 300  # pixels


@dataclass
class Look:
    """What a side's images look like, whatever their order.

    Leaving out noise or warp moves mean and deviation by less than the tolerance, so each has a
    figure of its own. Grain: the mean step between neighbours where the image is dark, which is
    nothing but noise. Edge: the mean of the left and right columns. Clothes rarely reach them
    before the warp: 0.040 without a warp, 0.045 at half its strength, 0.054 with all of it.
    """

    name: str
    mean: float
    deviation: float
    grain: float
    edge: float

    @classmethod
    def of(cls, result, images):
        require_floats(result.name, images, (1, 28, 28))
        left, right = images[..., :-1], images[..., 1:]
        dark = (left <= 0.1) & (right <= 0.1)
        grain = np.abs(left - right)[dark].mean()
        edge = images[..., [0, -1]].mean()
        return cls(result.name, *map(float, (images.mean(), images.std(), grain, edge)))


def require_floats(name, images, shape):
    if images.dtype != np.float32 or images.shape[1:] != shape:
        found = f"{images.dtype} {images.shape}"
        raise RuntimeError(f"{name}: {found}, not float32 [n, {', '.join(map(str, shape))}]")


def originals(context):
    return shown(context.images[:SHOWN, None].astype(np.float32) / 255)


def shown(images):
    """The first images as bytes [n, side, side, 3], in the size in which they are drawn."""
    return to_bytes(images[:SHOWN]).repeat(ZOOM, axis=1).repeat(ZOOM, axis=2)


def to_bytes(images):
    """From floats [n, channels, h, w] in [0, 1] to bytes [n, h, w, 3]."""
    pixels = np.rint(np.clip(images, 0.0, 1.0) * 255).astype(np.uint8)
    return np.broadcast_to(pixels, (len(pixels), 3, *pixels.shape[2:])).transpose(0, 2, 3, 1)


def differences(looks, figures=FIGURES, tolerance=TOLERANCE):
    """A sentence for every figure that is too far from the median of all sides."""
    found = []
    for figure in figures:
        middle = statistics.median(getattr(look, figure) for look in looks)
        for look in looks:
            value = getattr(look, figure)
            if not abs(value - middle) <= tolerance * middle:  # NaN fails too
                found.append(f"{look.name}: {figure} {value:.4f}, median of all sides {middle:.4f}")
    return found


def draw(rows, path):
    """One labelled row per side; rows maps a label to images from shown()."""
    cell = next(iter(rows.values())).shape[1] + GAP
    sheet = Image.new("RGB", (LABEL_WIDTH + SHOWN * cell + GAP, len(rows) * cell + GAP), "dimgrey")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=14)
    for row, (label, images) in enumerate(rows.items()):
        top = GAP + row * cell
        pen.text((GAP * 2, top + cell // 2 - 10), label, fill="white", font=font)
        for column, image in enumerate(images):
            sheet.paste(Image.fromarray(image), (LABEL_WIDTH + column * cell, top))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
