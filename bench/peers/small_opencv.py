"""What sides without a warp of their own share: OpenCV's, with a matrix per sample, then noise."""

import cv2
import numpy as np

from .policy import CENTRE, NOISE, SIDE, source_maps

INVERSE = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP  # the matrices lead from output to source


def augment_into(out, images, rng):
    """out: float32 [n, 1, 28, 28] from bytes [n, 28, 28]."""
    linear, offset = source_maps(rng, len(images))
    centre = np.full(2, CENTRE, np.float32)
    maps = np.concatenate([linear, (offset + centre - linear @ centre)[:, :, None]], axis=2)
    for pixels, image, matrix in zip(out, images, maps):
        pixels[0] = cv2.warpAffine(image, matrix, (SIDE, SIDE), flags=INVERSE)
    out *= np.float32(1 / 255)
    out += rng.uniform(-NOISE, NOISE, out.shape).astype(np.float32)
    np.clip(out, 0, 1, out=out)
    return out
