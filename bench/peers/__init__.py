"""The sides that bench/feed_mnist.py compares, one module each.

Modules are imported one by one, so that a peer that is not installed is named and left out
instead of ending the run.
"""

import importlib

# Letters are those of the issue; a letter may stand for several variants.
MODULES = {
    "s": "stoker",
    "a": "python_pool",
    "b": "torchvision_loader",
    "c": "dali",
    "d": "torch_batch",
}


def load_sides(without, context):
    """Returns the sides that can run here, and the reason for each letter that cannot."""
    sides, missing = [], {}
    for letter, module in MODULES.items():
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
