"""Stoker's feed in place of the training loader of timm's train.py; see timm_train.py beside it.

`stoker_loader(create_loader)` has the arguments of timm.data.create_loader. Loaders for training on an image folder come from
stoker.Feed, all others from `create_loader`. Arguments that the feed cannot do raise ValueError and say what to pass instead.
"""

import functools

import stoker
import stoker.transforms as T
import torch


def stoker_loader(create_loader):
    @functools.wraps(create_loader)
    def create(dataset, input_size, batch_size, is_training=False, **options):
        if not is_training:
            return create_loader(dataset, input_size, batch_size, is_training=False, **options)
        return TrainLoader(dataset, input_size, batch_size, **options)

    return create


class TrainLoader:
    """What train.py asks of a loader: batches, a length, and set_epoch of its sampler."""

    batch_sampler = None
    mixup_enabled = False

    def __init__(self, dataset, input_size, batch_size, mean, std, device, num_workers=1, img_dtype=torch.float32, distributed=False,
                 use_prefetcher=True, collate_fn=None, batch_choice_seed=None, **options):
        if collate_fn is not None:
            raise ValueError("timm mixes batches in its collate function. Pass --no-prefetcher: then train.py mixes them itself.")
        seed = torch.initial_seed() if batch_choice_seed is None else batch_choice_seed
        transform = T.Compose([*augmentation(input_size, mean, **options), T.Normalize(mean, std)])
        self.sampler = self.feed = stoker.Feed(
            dataset.reader.root,
            **transform.feed_arguments(),
            batch_size=batch_size,
            workers=num_workers,
            seed=seed,
            drop_last=True,
            framework="torch",
            **({"rank": "auto"} if distributed else {}),
        )
        names = sorted(dataset.reader.class_to_idx, key=dataset.reader.class_to_idx.get)
        if list(self.feed.classes) != names:
            raise ValueError(f"the order of classes differs: timm has {names}, Stoker {list(self.feed.classes)}")
        self.dataset, self.device = dataset, device
        self.dtype = img_dtype if use_prefetcher else torch.float32

    def __len__(self):
        return len(self.feed)

    def __iter__(self):
        for images, labels in self.feed:
            yield images.to(self.device, self.dtype, non_blocking=True), labels.to(self.device, non_blocking=True)


def augmentation(input_size, mean, *, scale=None, ratio=None, hflip=0.5, vflip=0.0, color_jitter=0.4, color_jitter_prob=None,
                 grayscale_prob=0.0, gaussian_blur_prob=0.0, interpolation="bilinear", re_prob=0.0, re_mode="const", **others):
    """timm's training transforms as Stoker's."""
    refuse(others)
    if interpolation != "bilinear":
        raise ValueError(f"interpolation is {interpolation!r}. Pass --train-interpolation bilinear.")
    yield T.RandomResizedCrop(input_size[-2:], scale or (0.08, 1.0), ratio or (3 / 4, 4 / 3))
    if hflip:
        yield T.RandomHorizontalFlip(hflip)
    if vflip:
        yield T.RandomVerticalFlip(vflip)
    if color_jitter:
        jitter = T.ColorJitter(*(color_jitter if isinstance(color_jitter, (list, tuple)) else [color_jitter] * 3))
        yield jitter if color_jitter_prob is None else T.RandomApply([jitter], color_jitter_prob)
    if grayscale_prob:
        yield T.RandomGrayscale(grayscale_prob)
    if gaussian_blur_prob:
        yield T.RandomApply([T.GaussianBlur(23)], gaussian_blur_prob)
    if re_prob:
        # timm covers with 0 after normalisation, which is the mean before it.
        value = {"const": round(255 * sum(mean) / len(mean)), "pixel": "random"}.get(re_mode)
        if value is None:
            raise ValueError(f"random erasing of mode {re_mode!r}. Pass --remode const or --remode pixel.")
        yield T.RandomErasing(re_prob, scale=(0.02, 1 / 3), ratio=(0.3, 1 / 0.3), value=value)


# Options of timm without a counterpart, and the values that mean "off".
OFF = {"auto_augment": (None, ""), "num_aug_repeats": (0, None), "num_aug_splits": (0, None), "no_aug": (False,), "re_count": (1,),
       "train_crop_mode": (None, "rrc"), "input_size_choices": (None,), "num_batches": (None,), "tf_preprocessing": (False,)}


def refuse(options):
    for name, off in OFF.items():
        if name in options and options[name] not in off:
            raise ValueError(f"stoker.Feed has no counterpart of {name}={options[name]!r} of timm.")
