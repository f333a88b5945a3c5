"""The sides that the benches compare, one module each.

Modules are imported one by one, so that a peer that is not installed is named and left out
instead of ending the run.
"""

import importlib

# bench/feed_mnist.py. Letters are those of the issue; a letter may stand for several variants.
SMALL_IMAGES = {
    "s": "stoker",
    "a": "python_pool",
    "b": "torchvision_loader",
    "c": "dali",
    "d": "torch_batch",
}

# bench/feed_jpeg.py.
PHOTOS = {
    "s": "photo_stoker",
    "t": "photo_torchvision",
    "o": "photo_opencv",
    "a": "photo_albumentations",
    "d": "photo_dali",
    "f": "photo_tfdata",
    "l": "photo_spdl",
}

# bench/python_feed.py: everything from Python, one batch size.
PYTHON_PHOTOS = {
    "s": "photo_feed",
    "t": "photo_torchvision",
    "e": "photo_torchcodec",
    "p": "photo_stateful",
    "a": "photo_albumentations",
    "d": "photo_dali",
    "i": "photo_dali_dynamic",
    "f": "photo_tfdata",
    "g": "photo_grain",
    "l": "photo_spdl",
}
PYTHON_SMALL = {
    "s": "small_feed",
    "b": "torchvision_loader",
    "p": "small_stateful",
    "a": "small_albumentations",
    "c": "dali",
    "i": "small_dali_dynamic",
    "f": "small_tfdata",
    "g": "small_grain",
    "l": "small_spdl",
}


def load_sides(modules, without, context):
    """Returns the sides that can run here, and the reason for each letter that cannot."""
    sides, missing = [], {}
    for letter, module in modules.items():
        if letter in without:
            continue
        try:
            loaded = importlib.import_module(f"{__name__}.{module}").SIDES
        except ImportError as error:
            missing[letter] = f"{module} is not installed: {error}"
            continue
        for side in (factory(context) for factory in loaded):
            reason = side.missing()
            if reason:
                missing[letter] = reason
            else:
                sides.append(side)
    return sides, missing
