"""From nothing to the first batch of a large folder of small JPEG files, each side in a fresh process.

    python -m peers.first SIDE FOLDER WORKERS

prints one JSON object: seconds from the start of the side's own work (after its imports) to its first batch, and MB of all its
processes then. bench/python_feed.py measures the whole process besides.
"""

import json
import sys
import time
from pathlib import Path

from .cpu import tree_pss_megabytes

BATCH, SIDE = 64, 32


def stoker(folder, workers):
    import stoker as package

    yield
    yield next(iter(package.Feed(folder, augment=f"random_resized_crop({SIDE}),hflip(0.5)", batch_size=BATCH, workers=workers)))[0]


def _torch_loader(folder, workers, loader):
    import torch
    import torchvision
    from torchvision.transforms import v2

    yield
    to_float = v2.ToDtype(torch.float32, scale=True)
    change = v2.Compose([v2.RandomResizedCrop(SIDE), v2.RandomHorizontalFlip(), v2.PILToTensor(), to_float])
    data = torchvision.datasets.ImageFolder(folder, change)
    yield next(iter(loader(data, batch_size=BATCH, shuffle=True, num_workers=workers, multiprocessing_context="fork")))[0]


def dataloader(folder, workers):
    from torch.utils.data import DataLoader

    yield from _torch_loader(folder, workers, DataLoader)


def stateful(folder, workers):
    from torchdata.stateful_dataloader import StatefulDataLoader

    yield from _torch_loader(folder, workers, StatefulDataLoader)


def dali(folder, workers):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def
    def feed():
        jpegs, _ = fn.readers.file(file_root=folder, random_shuffle=True)
        images = fn.decoders.image_random_crop(jpegs, output_type=types.RGB)
        images = fn.resize(images, size=[SIDE, SIDE])
        return fn.crop_mirror_normalize(images, dtype=types.FLOAT, mirror=fn.random.coin_flip())

    yield
    pipeline = feed(batch_size=BATCH, num_threads=workers, device_id=None)
    pipeline.build()
    yield pipeline.run()[0].as_array()


def dali_dynamic(folder, workers):
    import nvidia.dali.experimental.dynamic as ndd
    from nvidia.dali import types

    yield
    ndd.set_num_threads(workers)
    reader = ndd.readers.File(file_root=folder, random_shuffle=True)
    jpegs, _ = next(iter(reader.next_epoch(batch_size=BATCH)))
    images = ndd.decoders.image_random_crop(jpegs, output_type=types.RGB, device="cpu")
    images = ndd.resize(images, size=[SIDE, SIDE])
    mirror = ndd.random.coin_flip(batch_size=BATCH)
    yield ndd.crop_mirror_normalize(images, dtype=ndd.float32, mirror=mirror).torch()


def spdl(folder, workers):
    import random

    import cv2
    import numpy as np
    from spdl.pipeline import PipelineBuilder

    def load(paths):
        return np.stack([cv2.resize(cv2.imread(path), (SIDE, SIDE)) for path in paths])

    yield
    files = sorted(str(path) for path in Path(folder).glob("*/*.jpg"))
    random.shuffle(files)
    source = (files[at : at + BATCH] for at in range(0, len(files), BATCH))
    pipeline = PipelineBuilder().add_source(source).pipe(load, concurrency=workers).add_sink(2).build(num_threads=workers)
    with pipeline.auto_stop(timeout=60):
        yield next(iter(pipeline))


def tfdata(folder, workers):
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf

    def load(path):
        return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [SIDE, SIDE])

    yield
    data = tf.data.Dataset.list_files(f"{folder}/*/*.jpg", shuffle=True)
    yield next(iter(data.map(load, num_parallel_calls=workers).batch(BATCH).prefetch(2)))


def grain(folder, workers):
    import cv2
    from grain.python import MapDataset, ReadOptions

    yield
    files = sorted(str(path) for path in Path(folder).glob("*/*.jpg"))
    data = MapDataset.source(files).shuffle(seed=1).map(lambda path: cv2.resize(cv2.imread(path), (SIDE, SIDE))).batch(BATCH)
    yield next(iter(data.to_iter_dataset(ReadOptions(num_threads=workers))))


SIDES = {
    "stoker": "Stoker",
    "dataloader": "DataLoader, ImageFolder",
    "stateful": "StatefulDataLoader, ImageFolder",
    "dali": "DALI pipeline",
    "dali_dynamic": "DALI dynamic mode",
    "spdl": "SPDL, sorted glob",
    "tfdata": "tf.data, list_files",
    "grain": "grain, sorted glob",
}


def main():
    side, folder, workers = sys.argv[1:]
    steps = globals()[side](folder, int(workers))
    next(steps)  # imports
    begin = time.perf_counter()
    batch = next(steps)
    seconds = time.perf_counter() - begin
    assert len(batch) == BATCH, f"{len(batch)} images"
    print(json.dumps({"inside": seconds, "megabytes": tree_pss_megabytes()}), flush=True)


if __name__ == "__main__":
    main()
