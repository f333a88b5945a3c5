"""Side f: tf.data, which decodes only the part that was drawn (decode_and_crop_jpeg).

TensorFlow is imported in the measured process only: it does not survive a fork once it has run,
and the other peers need not carry it. Its boxes are sample_distorted_bounding_box's, which draws
the ratio evenly where torchvision draws its logarithm.
"""

import importlib.util
import os

from .photos import AREA, FACTOR, OFFSET, RATIO, SIDE, NativeSide
from .side import BATCH


def crop_resize_normalise(tf, path):
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.image.extract_jpeg_shape(data),
        bounding_boxes=tf.zeros([1, 0, 4]),
        min_object_covered=0.0,
        aspect_ratio_range=RATIO,
        area_range=AREA,
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.image.decode_and_crop_jpeg(data, window, channels=3)
    image = tf.image.resize(image, [SIDE, SIDE], method="bilinear", antialias=False)
    image = tf.image.random_flip_left_right(image)
    return tf.transpose(image * FACTOR + OFFSET, [2, 0, 1])


class TfData(NativeSide):
    letter = "f"
    name = "tf.data, decode_and_crop_jpeg"
    antialias, like = "off", "plain"
    asked = 1.7

    def missing(self):
        found = importlib.util.find_spec("tensorflow")
        return None if found else "photo_tfdata is not installed: no module named 'tensorflow'"

    def start(self, workers):
        super().start(workers)
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
        import tensorflow as tf

        self.tf = tf
        tf.config.threading.set_inter_op_parallelism_threads(workers)
        tf.config.threading.set_intra_op_parallelism_threads(1)

    def stream(self, files, shuffled):
        tf = self.tf
        data = tf.data.Dataset.from_tensor_slices(files)
        if shuffled:
            data = data.shuffle(len(files)).repeat()
        data = data.map(
            lambda path: crop_resize_normalise(tf, path), num_parallel_calls=self.workers
        )
        data = data.batch(BATCH).prefetch(2)
        options = tf.data.Options()
        options.threading.private_threadpool_size = self.workers
        options.threading.max_intra_op_parallelism = 1
        return iter(data.with_options(options))


SIDES = [TfData]
