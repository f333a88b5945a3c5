#!/usr/bin/env python3
"""Writes what Python makes of built-in networks, for tests/families_test.py: run by an environment that has torch, torchvision and timm.

    families_python.py FOLDER SIZE NAME…
    families_python.py --resampled FOLDER SIZE ROWS COLUMNS NAME

NAME is that of one of our networks. For each library L that has it: NAME.L.weights.safetensors, with random values, and
NAME.L.expected.safetensors (networks_python.py), of the batch NAME.batch.safetensors, whose images have SIZE x SIZE pixels.
Resampled: timm's weights for SIZE x SIZE, and what it makes of them for images of ROWS x COLUMNS.
"""

import pathlib
import sys

import timm
import torch
import torchvision
from safetensors.torch import save_file
from torchvision.models import convnext

import networks_python

CLASSES, SAMPLES = 7, 4
# timm's names of torchvision's networks, where they are others.
TIMM = {"efficientnet_v2_s": "efficientnetv2_s", "mobilenet_v3_small": "mobilenetv3_small_100", "mobilenet_v3_large": "mobilenetv3_large_100",
        "regnet_y_400mf": "regnety_004", "regnet_y_800mf": "regnety_008_tv", "regnet_y_1_6gf": "regnety_016", "regnet_y_3_2gf": "regnety_032",
        "regnet_y_8gf": "regnety_080_tv"}


def of_timm(name, size):
    """With torchvision's epsilon, which timm's networks lack in part."""
    options = {"img_size": size} if name.startswith("vit") else {}
    model = timm.create_model(TIMM.get(name, name), num_classes=CLASSES, **options)
    epsilon = 1e-3 if name.startswith(("mobilenet_v3", "efficientnet_v2")) else 1e-5
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.eps = epsilon
            module.momentum = 0.01 if name.startswith("mobilenet_v3") else 0.1
    return model


def of_torchvision(name, size):
    """timm's small networks too, of torchvision's parts."""
    if name.startswith("vit"):
        width = timm.create_model(name, img_size=size).embed_dim
        return torchvision.models.VisionTransformer(size, 16, 12, width // 64, width, 4 * width, num_classes=CLASSES)
    if name.startswith("convnext"):
        stages = timm.create_model(name).stages
        widths = [stage.blocks[0].conv_dw.in_channels for stage in stages]
        settings = [convnext.CNBlockConfig(width, after, len(stage.blocks)) for width, after, stage in zip(widths, widths[1:] + [None], stages)]
        return convnext.ConvNeXt(settings, num_classes=CLASSES)
    options = {} if name.startswith("regnet") else {"dropout": 0.0}
    if name.startswith("efficientnet"):
        options["stochastic_depth_prob"] = 0.0
    return torchvision.models.get_model(name, num_classes=CLASSES, **options)


def write_batch(folder, name, rows, columns):
    torch.manual_seed(1)
    pixels = torch.randn(SAMPLES, 3, rows, columns)
    labels = torch.arange(SAMPLES) % CLASSES
    save_file({"pixels": pixels, "labels": labels, "classes": torch.tensor(CLASSES)}, folder / f"{name}.batch.safetensors")
    return pixels, labels


def write_resampled(folder, size, rows, columns, name):
    pixels, labels = write_batch(folder, name, rows, columns)
    model = of_timm(name, size)
    networks_python.with_life(model)
    weights = model.state_dict()
    save_file(weights, folder / f"{name}.timm.weights.safetensors")
    other = of_timm(name, (rows, columns))
    weights = dict(weights, pos_embed=timm.layers.resample_abs_pos_embed(weights["pos_embed"], [rows // 16, columns // 16]))
    other.load_state_dict(weights)
    save_file(networks_python.expected_of(other, pixels, labels, torch.channels_last), folder / f"{name}.timm.expected.safetensors")


def write(folder, name, size):
    pixels, labels = write_batch(folder, name, size, size)
    for library, make in (("timm", of_timm), ("torchvision", of_torchvision)):
        torch.manual_seed(2)
        model = make(name, size)
        networks_python.with_life(model)
        save_file(model.state_dict(), folder / f"{name}.{library}.weights.safetensors")
        expected = networks_python.expected_of(model, pixels, labels, torch.channels_last)
        save_file(expected, folder / f"{name}.{library}.expected.safetensors")


def main():
    torch.set_num_threads(1)
    if sys.argv[1] == "--resampled":
        folder, *sizes, name = sys.argv[2:]
        write_resampled(pathlib.Path(folder), *map(int, sizes), name)
        return
    folder, size, names = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    for name in names:
        write(folder, name, size)
        print(f"{name}: written", flush=True)


if __name__ == "__main__":
    main()
