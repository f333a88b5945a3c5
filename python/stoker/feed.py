"""The feed: batches of images, made by parallel threads, the same for any number of them."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from typing import Any, Callable, Iterator, NamedTuple, Sequence

from . import _arrays, _feed, _own_data, _ranks

_ON_ERROR = {"stop": 0, "replace": 1, "skip": 1, "omit": 2}  # "skip" is the program's word
_IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
_STATE_VERSION = 1


class Fault(NamedTuple):
    """A sample that was replaced or omitted, and where it would have stood."""

    index: int
    name: str
    reason: str
    epoch: int
    position: int


class Feed:
    """Batches of a dataset, epoch after epoch.

    >>> import stoker
    >>> feed = stoker.Feed("fashion-mnist", batch_size=64, seed=1, framework="numpy")
    >>> len(feed), feed.classes[:2]
    (938, ('T-shirt/top', 'Trouser'))
    >>> for images, labels in feed:
    ...     break
    >>> images.shape, labels.shape
    ((64, 1, 28, 28), (64,))
    >>> feed.close()

    Each ``iter()`` starts the next epoch, also if the last one was left early. What a batch contains follows from data, seed,
    epoch and place alone: not from the number of workers, of ranks or from time.

    Args:
        data: a known name, a folder, list or table of images, shards or a URL, as the program takes them; a ``datasets.Dataset``;
            an Arrow table or pandas data frame with a column of encoded images; or any object with ``__len__`` and
            ``__getitem__`` that gives ``(image, label)`` or a dict. An image is bytes of a file, an array (rows, columns[,
            channels]) of uint8, or a PIL image.
        split: "train", "val" or "test", where the data has parts.
        augment: a preset or a list of operations as text ("random_resized_crop(224),hflip(0.5)"), or objects whose ``str()`` is
            such a text, alone or in a list.
        batch_size: samples of a batch over all ranks together.
        workers: threads, or processes with ``isolate``; 0: as many as the job may use.
        views: of each sample, each augmented by itself; images get one more axis.
        fields: of "image", "label", "index", "name" and the fields of the data; batches are tuples in this order.
        dtype: "float32" or "uint8". Bytes are not normalised.
        layout: "channels_first" or "channels_last". Torch tensors always have the shape (sample, channel, row, column);
            "channels_last" is then their memory format. NumPy arrays have the shape (sample, row, column, channel). Bytes always
            lie with channels last: with "channels_first" they are a view with strides.
        mean, std: of each channel, for values from 0 to 1. Not given: ImageNet's for colour images, 0 and 1 for grey ones.
        rank, ranks: of this process, for data-parallel training. "auto": of torch.distributed where it is initialised, else of
            the variables that torchrun, Slurm or Open MPI set.
        isolate: decode in locked-down processes, for files that are not trusted.
        on_error: what happens with a sample that cannot be read: "stop" raises SampleError, "replace" takes the sample at the
            next position, "omit" leaves its place black, with label -1. `faults` lists them; more than `max_errors` are an error.
        framework: "torch", "numpy", "jax", or "dlpack" for objects with ``__dlpack__``. None: torch where the program has imported
            it before the first ``iter()``, else NumPy.
        operations: functions on finished batches. Each is called as ``f(batch, key=...)`` with the tuple and a number that follows
            from seed, epoch and batch, and returns the batch (None: it changed the arrays in place).
        batches_per_epoch: fewer than the data has, or more, in several passes; 0: all.
        antialias, exact_decode: how images are made smaller. With exact_decode, JPEGs are never decoded at a half, a quarter or an
            eighth of their size, and pixels equal those of Pillow.
        channels, depth: of images in files: 1, 3 or 4 channels (None: 3) of 8 or 16 bits.
        columns: of a table, by role: {"path": ..., "label": ..., "labels": [...], "targets": [...], "weight": ..., "split": ...};
            of an Arrow table, data frame or dataset {"image": ..., "label": ...}. Roles that are not given are found by name.
        pin_memory: "auto" takes memory that torch has pinned where it sees a CUDA device; not with `isolate`.
        prefetch_batches: batches that are made ahead; 0: two for each worker, at least four.
        niceness: the workers' scheduling priority, as `nice` has it: 0 (normal) to 19 (lowest).
        held_bytes: how much memory batches may take that the program still holds while the feed goes on.
    """

    def __init__(self, data: Any, *, split: str = "train", augment: Any = None, batch_size: int = 64, seed: int = 0,
                 workers: int = 0, shuffle: bool = True, drop_last: bool = False, views: int = 1,
                 fields: Sequence[str] = ("image", "label"), dtype: str = "float32", layout: str = "channels_first",
                 mean: Sequence[float] | float | None = None, std: Sequence[float] | float | None = None,
                 rank: int | str = 0, ranks: int = 1, isolate: bool = False, on_error: str = "stop", max_errors: int = 100,
                 framework: str | None = None, operations: Sequence[Callable] = (), pin_memory: bool | str = "auto",
                 batches_per_epoch: int = 0, antialias: bool = True, exact_decode: bool = False, channels: int | None = None, depth: int = 8,
                 columns: dict[str, str | Sequence[str]] | None = None,
                 prefetch_batches: int = 0, held_bytes: int = 2 << 30, niceness: int = 0) -> None:
        _check("dtype", dtype, ("float32", "uint8"))
        _check("layout", layout, ("channels_first", "channels_last"))
        _check("on_error", on_error, tuple(_ON_ERROR))
        _check("pin_memory", pin_memory, ("auto", True, False))
        _check("framework", framework, (None, "torch", "numpy", "dlpack", "jax"))
        if isinstance(fields, str):
            raise TypeError(f"fields must be a sequence of names, not a text: expected ({fields!r},)")
        self._fields = list(fields)
        self._framework, self._dtype, self._layout, self._pin_memory = framework, dtype, layout, pin_memory
        self._operations = tuple(operations)
        self._source = _own_data.open_source(data, split, _own_data.ImageOptions(channels, depth, columns or {}))
        self._policy = policy_text(augment)
        rank, ranks = _ranks.resolve(rank, ranks)

        options = _feed.Options()
        for name, value in {"workers": workers, "batch_size": batch_size, "views": views, "seed": seed, "shuffle": shuffle,
                            "drop_last": drop_last, "rank": rank, "ranks": ranks, "isolate": isolate, "max_errors": max_errors,
                            "batches_per_epoch": batches_per_epoch, "ring_batches": prefetch_batches, "held_bytes": held_bytes,
                            "niceness": niceness, "channels_last": dtype == "float32" and layout == "channels_last"}.items():
            setattr(options, name, value)
        if dtype == "uint8":
            options.set_bytes()
        options.set_normalisation(*_normalisation(mean, std, self._source.channels))
        options.set_framing(antialias, exact_decode)
        options.set_on_error(_ON_ERROR[on_error])
        self._options = options
        self._facts = _feed.describe(self._source, self._policy, options, self._fields)

        self._lock = threading.RLock()
        self._native: _feed.Feed | None = None
        self._native_place: tuple[int, int] | None = None  # (epoch, batch) that it gives next
        # Batches of this epoch that the program has, and samples of all ranks in them.
        self._epoch, self._given, self._position = 0, 0, 0
        self._begun = False  # whether an iterator gave, or may give, batches of this epoch
        self._serial = 0  # of the newest iterator; older ones end
        self._old_faults: list[Fault] = []
        self._process = os.getpid()

    # What it gives.

    def __len__(self) -> int:
        """Batches of an epoch."""
        return self._facts["batches"]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes; label i means classes[i]."""
        return tuple(self._source.classes)

    @property
    def samples(self) -> int:
        """Samples of an epoch, over all ranks."""
        return self._facts["samples"]

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of an image."""
        return self._facts["shape"]

    @property
    def augment(self) -> str:
        """The policy in its full form."""
        return self._facts["policy"]

    @property
    def batch_size(self) -> int:
        """Samples of a batch over all ranks."""
        return self._options.batch_size

    @property
    def rank(self) -> int:
        """Of this process."""
        return self._options.rank

    @property
    def ranks(self) -> int:
        """How many processes share the batches."""
        return self._options.ranks

    @property
    def epoch(self) -> int:
        """That of the batches given last, or of the first ones to come."""
        return self._epoch

    # Iterating.

    def __iter__(self) -> Iterator[tuple]:
        with self._lock:
            self._check_process()
            if self._begun:
                self._epoch, self._given, self._position = self._epoch + 1, 0, 0
            self._begun = True
            self._serial += 1
            self._start()
            return self._batches(self._serial, self._native)

    def _start(self) -> None:
        """A native feed that stands at the right place: usually the one of the last epoch, which has prefetched."""
        place = self._normal_place()
        if self._native is not None and self._native_place == place:
            return
        self._stop()
        arrays = _arrays.choose(self._framework, self._dtype, self._layout, False if self._options.isolate else self._pin_memory)
        if arrays.make_memory is not None:
            self._options.set_memory(arrays.make_memory)
        self._options.set_place(self._epoch, self._position)
        self._native = _feed.Feed(self._source, self._policy, self._options, self._fields, arrays.kind, arrays.channels_first,
                                  arrays.converter)
        self._native_place = place

    def _normal_place(self) -> tuple[int, int]:
        """The end of an epoch is the start of the next."""
        return (self._epoch, self._given) if self._given < len(self) else (self._epoch + 1, 0)

    def _stop(self) -> None:
        native, self._native, self._native_place = self._native, None, None
        if native is not None:
            native.close()
            self._old_faults += [Fault(*fault) for fault in native.faults()]

    def _batches(self, serial: int, native: _feed.Feed) -> Iterator[tuple]:
        count, next_batch, operations = len(self), native.next, self._operations
        batch_size, samples = self.batch_size, self.samples
        while True:
            if self._serial != serial:
                raise RuntimeError("this iterator is no longer valid: a later iter() of the feed has started another epoch")
            if self._given >= count:
                break
            batch = next_batch()
            if batch is None:  # after 2**31 epochs
                break
            self._given += 1
            self._position = min(self._given * batch_size, samples)
            self._native_place = self._normal_place()
            for operation in operations:
                changed = operation(batch, key=self._key(self._given - 1))
                batch = batch if changed is None else changed
            yield batch
        with self._lock:
            if self._serial == serial:  # complete: a state taken from now on is that of the next epoch
                self._move(self._epoch + 1, 0, 0)

    def _move(self, epoch: int, given: int, position: int) -> None:
        self._epoch, self._given, self._position, self._begun = epoch, given, position, False

    def _key(self, batch: int) -> int:
        """63 bits, which NumPy, torch and JAX take as a seed."""
        text = struct.pack("<QQQ", self._options.seed, self._epoch, batch)
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") >> 1

    # Where it is.

    def set_epoch(self, epoch: int) -> None:
        """The next ``iter()`` gives this epoch. A place inside it that load_state_dict() set stays."""
        with self._lock:
            self._check_process()
            if not self._begun and epoch == self._epoch:
                return
            self._move(int(epoch), 0, 0)
            self._serial += 1

    def state_dict(self) -> dict[str, int]:
        """Where the feed is: after the last batch that it gave, whatever was prefetched.

        `position` counts samples of the epoch over all ranks, so a feed with another number of ranks or workers continues
        exactly.
        """
        with self._lock:
            return {"version": _STATE_VERSION, "data_order": _feed.data_order_version, "epoch": self._epoch,
                    "position": self._position, "seed": self._options.seed,
                    "samples": len(self._source), "shuffle": int(self._options.shuffle)}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """The next ``iter()`` continues the epoch of that state, after its last batch."""
        with self._lock:
            self._check_process()
            expected = self.state_dict()
            for name in ("version", "data_order", "seed", "samples", "shuffle"):
                if state.get(name) != expected[name]:
                    raise ValueError(f"this state is of another feed: expected {name} {expected[name]}, got {state.get(name)}")
            epoch, position = int(state["epoch"]), int(state["position"])
            if epoch < 0 or not 0 <= position <= self.samples:
                raise ValueError(f"the state lies outside the data: expected a position up to {self.samples}, got {position}")
            self._stop()
            # Inside a batch, which another batch size may cause, the next one is the rest of it.
            self._move(epoch, len(self) if position == self.samples else position // self.batch_size, position)
            self._serial += 1

    # What it tells about itself.

    def stats(self) -> dict[str, Any]:
        """How long the program waited, and what the workers did, since they started."""
        with self._lock:
            self._check_process()
            return {} if self._native is None else {"workers": self._native.workers, **self._native.stats()}

    @property
    def faults(self) -> list[Fault]:
        """Samples that were replaced or omitted in the batches given so far."""
        with self._lock:
            self._check_process()
            newer = [] if self._native is None else self._native.faults()
            return self._old_faults + [Fault(*fault) for fault in newer]

    # Its end.

    def close(self) -> None:
        """Ends the workers. Batches that the program holds stay valid; a new ``iter()`` starts workers again."""
        with self._lock:
            if self._process == os.getpid():
                self._stop()
                self._serial += 1

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a feed cannot be pickled: it has threads. Make it in the process that uses it")

    def __repr__(self) -> str:
        return (f"<stoker.Feed: {len(self._source)} samples, {len(self)} batches of {self.batch_size}, epoch {self._epoch}, "
                f"{self._given} given>")

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise _feed.Error("this feed belongs to the process that this one was forked from. Make the feed in the child "
                              "process, or start it with \"spawn\"")


def policy_text(augment: Any) -> str:
    """A policy as the library reads it."""
    if augment is None:
        return ""
    if isinstance(augment, (list, tuple)):
        return ",".join(filter(None, map(policy_text, augment)))
    return str(augment)


def _check(name: str, value: Any, allowed: tuple) -> None:
    if value not in allowed:
        raise _feed.OptionError(f"unknown value of `{name}`: expected one of {', '.join(map(repr, allowed))}, got {value!r}")


def _numbers(value: Sequence[float] | float, channels: int) -> list[float]:
    if isinstance(value, (int, float)):
        return [float(value)] * channels
    numbers = [float(number) for number in value]
    if len(numbers) not in (1, channels):
        raise _feed.OptionError(f"`mean` and `std` need a number for each channel: expected {channels}, got {len(numbers)}")
    return numbers * (channels // len(numbers))


def _normalisation(mean: Any, std: Any, channels: int) -> tuple[list[float], list[float]]:
    colour = channels >= 3
    default_mean, default_std = _IMAGENET if colour else ([0.0], [1.0])
    deviations = list(default_std) if std is None else _numbers(std, channels)
    if any(not number > 0 for number in deviations):
        raise _feed.OptionError(f"`std` must be positive, got {std}")
    return list(default_mean) if mean is None else _numbers(mean, channels), deviations
