"""Side l: SPDL, threads in one process, with OpenCV's functions and with its own (FFmpeg's).

A worker makes a whole batch, which saves SPDL its own steps between single images. FFmpeg's
scaler widens its filter when it shrinks, so "bilinear" antialiases there. SPDL is imported in the
measured process only: it starts threads.
"""

import ctypes.util
import importlib.util
import random

import cv2
import numpy as np

from .opencv_load import load_into
from .photos import FACTOR, OFFSET, SIDE, PhotoSide, crop_box


def load_with_opencv(paths):
    out = np.empty((len(paths), 3, SIDE, SIDE), np.float32)
    for image, path in zip(out, paths):
        load_into(image, path, cv2.INTER_LINEAR)
    return out


def filter_words(height, width):
    """FFmpeg's description of what is done to one image."""
    top, left, h, w = crop_box(height, width)
    words = [f"crop={w}:{h}:{left}:{top}", f"scale={SIDE}:{SIDE}:flags=bilinear"]
    return ",".join(words + ["hflip"] * (random.random() < 0.5) + ["format=rgb24"])


def load_with_spdl(paths):
    import spdl.io

    frames = []
    for path in paths:
        packets = spdl.io.demux_image(path)
        words = filter_words(packets.height, packets.width)
        frames.append(spdl.io.decode_packets(packets, filter_desc=words))
    pixels = spdl.io.to_numpy(spdl.io.convert_frames(frames))  # [n, 224, 224, 3]
    out = np.empty((len(paths), 3, SIDE, SIDE), np.float32)
    for channel in range(3):
        np.multiply(pixels[..., channel], FACTOR[channel], out=out[:, channel])
        out[:, channel] += OFFSET[channel]
    return out


class SpdlOpenCv(PhotoSide):
    letter = "l"
    name = "SPDL, OpenCV"
    antialias, like = "off", "plain"
    asked = 1.7
    load = staticmethod(load_with_opencv)

    def missing(self):
        found = importlib.util.find_spec("spdl")
        return None if found else "photo_spdl is not installed: no module named 'spdl'"

    def start(self, workers):
        super().start(workers)
        cv2.setNumThreads(0)

    def batches(self, index_batches):
        from spdl.pipeline import PipelineBuilder

        source = ([self.files[index] for index in indices] for indices in index_batches)
        pipeline = (
            PipelineBuilder()
            .add_source(source)
            .pipe(self.load, concurrency=self.workers, output_order="input")
            .add_sink(2)
            .build(num_threads=self.workers, max_failures=0)  # its default leaves out what fails
        )
        with pipeline.auto_stop(timeout=60):  # a batch may take longer than its default
            yield from pipeline


class SpdlOwn(SpdlOpenCv):
    name = "SPDL, its own decoder"
    antialias, like = "on", "antialiased"
    asked = 2
    load = staticmethod(load_with_spdl)

    def missing(self):
        libraries = ctypes.util.find_library("avfilter") and ctypes.util.find_library("avdevice")
        return super().missing() or (None if libraries else f"{self.name}: no libraries of FFmpeg")


SIDES = [SpdlOpenCv, SpdlOwn]
