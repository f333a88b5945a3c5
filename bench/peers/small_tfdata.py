"""Side f: tf.data on 28x28 images: whole batches through one projective transform with a matrix per sample."""

import importlib.util
import math
import os

from .policy import ANGLE, CENTRE, NOISE, SHIFT, SIDE, TILT
from .side import Side


def transforms(tf, n):
    """[n, 8], from output to source, as policy.source_maps."""
    u = tf.random.uniform([4, n], -1.0, 1.0)
    angle, tilt = u[0] * math.radians(ANGLE), u[1] * TILT
    cos, sin = tf.cos(angle), tf.sin(angle)
    dx, dy = u[2] * SHIFT + tilt * CENTRE, u[3] * SHIFT
    xx, xy, yx, yy = cos, cos * tilt - sin, sin, sin * tilt + cos
    x = cos * dx - sin * dy + CENTRE - (xx + xy) * CENTRE
    y = sin * dx + cos * dy + CENTRE - (yx + yy) * CENTRE
    zero = tf.zeros_like(x)
    return tf.stack([xx, xy, x, yx, yy, y, zero, zero], axis=1)


class TfData(Side):
    letter = "f"
    name = "tf.data, whole batches"

    def missing(self):
        found = importlib.util.find_spec("tensorflow")
        return None if found else "small_tfdata is not installed: no module named 'tensorflow'"

    def start(self, workers):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
        import tensorflow as tf

        self.tf, self.workers = tf, workers
        tf.config.threading.set_inter_op_parallelism_threads(workers)
        tf.config.threading.set_intra_op_parallelism_threads(1)

    def change(self, images):
        tf = self.tf
        pixels = tf.cast(images[..., None], tf.float32) * (1 / 255)
        warped = tf.raw_ops.ImageProjectiveTransformV3(
            images=pixels,
            transforms=transforms(tf, tf.shape(pixels)[0]),
            output_shape=[SIDE, SIDE],
            fill_value=0.0,
            interpolation="BILINEAR",
            fill_mode="CONSTANT",
        )
        noisy = warped + tf.random.uniform(tf.shape(warped), -NOISE, NOISE)
        return tf.transpose(tf.clip_by_value(noisy, 0.0, 1.0), [0, 3, 1, 2])

    def stream(self, data):
        tf = self.tf
        data = data.batch(self.batch).map(self.change, num_parallel_calls=self.workers).prefetch(2)
        options = tf.data.Options()
        options.threading.private_threadpool_size = self.workers
        options.threading.max_intra_op_parallelism = 1
        return iter(data.with_options(options))

    def endless(self):
        data = self.tf.data.Dataset.from_tensor_slices(self.context.images)
        return self.stream(data.shuffle(self.context.size).repeat())

    def images(self, n):
        import numpy as np

        data = self.tf.data.Dataset.from_tensor_slices(self.context.images[:n])
        return np.concatenate([np.array(batch) for batch in self.stream(data)])


SIDES = [TfData]
