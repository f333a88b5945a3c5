"""The loaders whose promises bench/peers/promises.py tries: batches of pixels with the numbers of their files.

make() gives an iterable of (pixels, numbers), which has state() where the loader has one; make(state=…) continues from it. Every
loader shuffles with a fixed seed and crops, resizes and mirrors at random. BATCH is that of all ranks together.
"""

import os
import random

import numpy as np

BATCH, SIDE, SEED = 16, 64, 1
AREA = (0.3, 1.0)


class Stoker:
    name = "Stoker"
    isolate = False

    def make(self, folder, files, workers, state=None, rank=0, ranks=1, on_error="replace"):
        import stoker

        policy = f"random_resized_crop({SIDE},{AREA[0]}),hflip(0.5)"
        options = {"rank": rank, "ranks": ranks, "on_error": on_error, "isolate": self.isolate}
        feed = stoker.Feed(folder, augment=policy, batch_size=BATCH, seed=SEED, workers=workers, dtype="uint8",
                           fields=("image", "index"), framework="numpy", **options)
        if state is not None:
            feed.load_state_dict(state)
        return WithState(feed, feed.state_dict)


class StokerProcesses(Stoker):
    """For the killed worker: threads cannot be killed."""

    isolate = True


class WithState:
    """Batches of an iterable, and the state of its owner."""

    def __init__(self, batches, state):
        self.batches, self.state = batches, state

    def __iter__(self):
        return iter(self.batches)


class TorchDataset:
    def __init__(self, files):
        import torch
        from torchvision.transforms import v2

        self.files = files
        resize = v2.RandomResizedCrop(SIDE, scale=AREA)
        self.change = v2.Compose([resize, v2.RandomHorizontalFlip(), v2.PILToTensor()])
        torch.set_num_threads(1)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from PIL import Image

        with Image.open(self.files[index]) as image:
            return self.change(image.convert("RGB")), index


class DataLoader:
    name = "DataLoader"

    def classes(self):
        """Of the loader and of its sampler for ranks."""
        from torch.utils.data import DataLoader as Loader
        from torch.utils.data.distributed import DistributedSampler

        return Loader, DistributedSampler

    def make(self, folder, files, workers, state=None, rank=0, ranks=1):
        import torch

        torch.manual_seed(SEED)
        loader_class, sampler_class = self.classes()
        data = TorchDataset(files)
        sampler = sampler_class(data, ranks, rank, seed=SEED)
        loader = loader_class(
            data, batch_size=BATCH // ranks, sampler=sampler, num_workers=workers, multiprocessing_context="fork"
        )
        if state is not None:
            loader.load_state_dict(state)
        batches = ((pixels.numpy(), numbers.numpy()) for pixels, numbers in loader)
        return WithState(batches, loader.state_dict) if hasattr(loader, "state_dict") else batches


class StatefulDataLoader(DataLoader):
    name = "StatefulDataLoader"

    def classes(self):
        from torchdata.stateful_dataloader import StatefulDataLoader as Loader
        from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

        return Loader, StatefulDistributedSampler


class Dali:
    name = "DALI pipeline"

    def make(self, folder, files, workers, state=None, rank=0, ranks=1):
        from nvidia.dali import fn, pipeline_def, types

        @pipeline_def(enable_checkpointing=True)
        def feed():
            jpegs, numbers = fn.readers.file(files=files, labels=list(range(len(files))), random_shuffle=True, name="reader", seed=SEED,
                                             initial_fill=len(files), shard_id=rank, num_shards=ranks, pad_last_batch=False)
            images = fn.decoders.image_random_crop(jpegs, output_type=types.RGB, random_area=AREA, seed=SEED)
            images = fn.resize(images, size=[SIDE, SIDE])
            return fn.flip(images, horizontal=fn.random.coin_flip(seed=SEED)), numbers

        pipeline = feed(batch_size=BATCH // ranks, num_threads=workers, device_id=None, seed=SEED, checkpoint=state)
        pipeline.build()
        count = -(-len(files) // ranks // (BATCH // ranks))
        return WithState(self.batches(pipeline, count), pipeline.checkpoint)

    def batches(self, pipeline, count):
        for _ in range(count):
            pixels, numbers = pipeline.run()
            yield np.array(pixels.as_array()), np.array(numbers.as_array()).ravel()


class DaliDynamic:
    name = "DALI dynamic"

    def make(self, folder, files, workers, state=None, rank=0, ranks=1):
        import nvidia.dali.experimental.dynamic as ndd

        ndd.set_num_threads(workers)
        rng = ndd.random.RNG(SEED)
        reader = ndd.readers.File(files=files, labels=list(range(len(files))), random_shuffle=True, seed=SEED, initial_fill=len(files),
                                  shard_id=rank, num_shards=ranks, enable_checkpointing=True)
        if state is not None:
            reader.set_state(state[0])
            rng.set_state(state[1])
        return WithState(self.batches(ndd, reader, rng, BATCH // ranks), lambda: (str(reader.get_state()), str(rng.get_state())))

    def batches(self, ndd, reader, rng, batch):
        from nvidia.dali import types

        for jpegs, numbers in reader.next_epoch(batch_size=batch):
            images = ndd.decoders.image_random_crop(jpegs, output_type=types.RGB, random_area=AREA, device="cpu", rng=rng)
            images = ndd.resize(images, size=[SIDE, SIDE])
            images = ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=jpegs.batch_size, rng=rng))
            yield images.torch().numpy(), numbers.torch().numpy().ravel()


def crop_with_opencv(path, draw):
    import cv2

    image = cv2.imread(path, cv2.IMREAD_COLOR)
    height, width = image.shape[:2]
    h, w = int(height * draw.uniform(0.5, 1)), int(width * draw.uniform(0.5, 1))
    top, left = int(draw.uniform(0, height - h)), int(draw.uniform(0, width - w))
    part = cv2.resize(image[top : top + h, left : left + w], (SIDE, SIDE))
    return part[:, ::-1].copy() if draw.uniform(0, 1) < 0.5 else part


class Spdl:
    name = "SPDL"

    def make(self, folder, files, workers, state=None, rank=0, ranks=1):
        from spdl.pipeline import PipelineBuilder

        order = list(range(len(files)))
        random.Random(SEED).shuffle(order)
        random.seed(SEED)
        order = order[rank::ranks]
        pipeline = (
            PipelineBuilder()
            .add_source(order)
            .pipe(lambda number: (crop_with_opencv(files[number], random), number), concurrency=workers)
            .aggregate(BATCH // ranks)
            .add_sink(2)
            .build(num_threads=workers)
        )
        return self.batches(pipeline)

    def batches(self, pipeline):
        with pipeline.auto_stop(timeout=60):
            for batch in pipeline:
                yield np.stack([pixels for pixels, _ in batch]), np.array([number for _, number in batch])


class TfData:
    """With stateless random operations: it refuses to save an iterator with others."""

    name = "tf.data"

    def make(self, folder, files, workers, state=None, rank=0, ranks=1):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
        import tensorflow as tf

        def load(place, sample):
            path, number = sample
            seed = tf.stack([tf.constant(SEED, tf.int64), place])
            image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
            size = tf.shape(image)
            part = tf.image.stateless_random_crop(image, [size[0] * 2 // 3, size[1] * 2 // 3, 3], seed)
            part = tf.image.resize(part, [SIDE, SIDE])
            return tf.image.stateless_random_flip_left_right(part, seed + 1), number

        data = tf.data.Dataset.from_tensor_slices((files, list(range(len(files)))))
        data = data.shuffle(len(files), seed=SEED).enumerate().shard(ranks, rank)
        iterator = iter(data.map(load, num_parallel_calls=workers).batch(BATCH // ranks))
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        if state is not None:
            checkpoint.restore(state)
        batches = ((pixels.numpy(), numbers.numpy()) for pixels, numbers in iterator)
        return WithState(batches, lambda: checkpoint.save(f"{folder}/../tf-state"))


class Grain:
    """Its ElasticIterator, whose state is that of all ranks."""

    name = "grain"

    def make(self, folder, files, workers, state=None, rank=0, ranks=1):
        from grain.experimental import ElasticIterator
        from grain.python import MapDataset, MultiprocessingOptions, ShardOptions

        data = MapDataset.range(len(files)).seed(SEED).shuffle().random_map(LoadNumber(files))
        shard = ShardOptions(shard_index=rank, shard_count=ranks)
        iterator = ElasticIterator(data, BATCH, shard, multiprocessing_options=MultiprocessingOptions(num_workers=workers))
        if state is not None:
            iterator.set_state(state)
        return WithState(iterator, iterator.get_state)


class LoadNumber:
    """A picklable function of a number and its generator."""

    def __init__(self, files):
        self.files = files

    def __call__(self, number, rng):
        return crop_with_opencv(self.files[number], rng), number


SIDES = [Stoker, DataLoader, StatefulDataLoader, Dali, DaliDynamic, Spdl, TfData, Grain]
