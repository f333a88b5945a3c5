#!/usr/bin/env python3
"""Writes a network of timm or torchvision as a .pt2 file for `stoker train --model FILE.pt2`.

    python scripts/export_network.py convnext_tiny
    python scripts/export_network.py vit_small_patch16_224 --pretrained --out vit.pt2
    python scripts/export_network.py efficientnet_b0 --set drop_path_rate=0.2 --classes 12

The file has the network in training mode, its weights, and in extra/stoker.json what using it takes: image size, mean and
standard deviation. Needs torch, and timm or torchvision. Paths and code of this machine stay out of the file.
"""

import argparse
import ast
import json
import pathlib
import sys

import torch


def parse_setting(text):
    """NAME=VALUE, for the function that makes the network; VALUE as Python writes numbers, texts and booleans."""
    name, found, value = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description="Write a network of timm or torchvision as a .pt2 file.")
    parser.add_argument("name", help="of the network, e.g. convnext_tiny")
    parser.add_argument("--out", type=pathlib.Path, help="file to write [NAME.pt2]")
    parser.add_argument("--library", choices=("timm", "torchvision"), default="timm", help="that has the network [timm]")
    parser.add_argument("--pretrained", action="store_true", help="with published weights, which the library downloads")
    parser.add_argument("--weights", type=pathlib.Path, help="with the weights of this file (.safetensors, .pth)")
    parser.add_argument("--classes", type=int, help="outputs [those of the library]; Stoker replaces the head where its data has others")
    parser.add_argument("--channels", type=int, default=3, help="of the images [3]")
    parser.add_argument("--size", type=int, help="height and width of the images [those of the library]")
    parser.add_argument("--set", type=parse_setting, action="append", default=[], metavar="NAME=VALUE",
                        help="another argument for the library, e.g. drop_path_rate=0.1; may be repeated")
    parser.add_argument("--seed", type=int, default=0, help="of the weights that are drawn [0]")
    parser.add_argument("--force", action="store_true", help="overwrite a file that exists")
    return parser.parse_args(arguments)


def make_timm(options):
    import timm  # pylint: disable=import-outside-toplevel

    settings = dict(options.set)
    if options.classes is not None:
        settings["num_classes"] = options.classes
    if options.channels != 3:
        settings["in_chans"] = options.channels
    model = timm.create_model(options.name, pretrained=options.pretrained, **settings)
    facts = timm.data.resolve_model_data_config(model)
    classifier = model.pretrained_cfg.get("classifier")
    return model, {"size": list(facts["input_size"][1:]), "mean": list(facts["mean"]), "std": list(facts["std"]),
                   "interpolation": facts["interpolation"], "crop": facts["crop_pct"], "head": classifier}


def make_torchvision(options):
    import torchvision  # pylint: disable=import-outside-toplevel

    settings = dict(options.set)
    if options.classes is not None:
        settings["num_classes"] = options.classes
    model = torchvision.models.get_model(options.name, weights="DEFAULT" if options.pretrained else None, **settings)
    weights = torchvision.models.get_model_weights(options.name).DEFAULT
    how = weights.transforms()
    return model, {"size": [how.crop_size[0]] * 2, "mean": list(how.mean), "std": list(how.std), "interpolation": how.interpolation.value,
                   "crop": how.crop_size[0] / how.resize_size[0], "head": None}


def load_weights(model, path):
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file  # pylint: disable=import-outside-toplevel

        tensors = load_file(path)
    else:
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(tensors.get("state_dict", tensors))


def without_traces(program):
    """Stack traces name files of this machine."""
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    return program


def export(model, channels, size):
    """The training graph, for any number of images from two on."""
    images = torch.zeros(4, channels, *size)
    batch = torch.export.Dim("batch", min=2, max=65536)
    return without_traces(torch.export.export(model.train(), (images,), dynamic_shapes=({0: batch},), strict=False))


def main():
    options = parse_arguments(sys.argv[1:])
    out = options.out or pathlib.Path(options.name + ".pt2")
    if out.exists() and not options.force:
        sys.exit(f"{out} exists; --force overwrites it")
    torch.manual_seed(options.seed)
    model, facts = (make_timm if options.library == "timm" else make_torchvision)(options)
    if options.weights:
        load_weights(model, options.weights)
    if options.size:
        facts["size"] = [options.size, options.size]
    program = export(model, options.channels, facts["size"])
    facts = {"name": options.name, "library": options.library, "channels": options.channels, **facts}
    torch.export.save(program, out, extra_files={"stoker.json": json.dumps(facts)})
    print(f"{out}: {options.name} of {options.library}, images of {facts['size'][0]}x{facts['size'][1]}x{options.channels}")


if __name__ == "__main__":
    main()
