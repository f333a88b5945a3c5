"""The policy that every side implements: Stoker's preset `mnist`.

In this order: rotate about the centre, shift, skew (out[y][x] = in[y][x + y*tilt], so the top row
stays in place), noise (every pixel its own uniform value, then clipped). Black outside, output float32 in [0, 1].
"""

import numpy as np

SIDE = 28  # pixels
ANGLE = 15.0  # degrees, either way
SHIFT = 2.0  # pixels, either way, x and y
TILT = 0.15  # pixels of x per row, either way
NOISE = 0.1  # of full scale, either way
CENTRE = (SIDE - 1) / 2  # rows from the top one, which the skew leaves in place, to the middle


def source_maps(rng, n):
    """n random maps from output to source, in (x, y) relative to the image's centre.

    Returns the linear parts [n, 2, 2] and the offsets [n, 2], float32. An output pixel is looked
    up through the operations backwards: skew, then shift, then rotation, so the map is R(Kp + s).
    """
    u = rng.uniform(-1.0, 1.0, (4, n)).astype(np.float32)
    angle, tilt = u[0] * np.float32(np.radians(ANGLE)), u[1] * np.float32(TILT)
    cos, sin = np.cos(angle), np.sin(angle)
    dx, dy = u[2] * np.float32(SHIFT) + tilt * np.float32(CENTRE), u[3] * np.float32(SHIFT)
    linear = np.stack([cos, cos * tilt - sin, sin, sin * tilt + cos], axis=1).reshape(n, 2, 2)
    return linear, np.stack([cos * dx - sin * dy, sin * dx + cos * dy], axis=1)
