#!/usr/bin/env python3
"""Writes what Python makes of networks, for tests/networks_test.py: run by an environment that has torch and timm.

    networks_python.py FOLDER [--check] NAME…
    networks_python.py FOLDER --export JSON

For each NAME of timm, which settings of the network may follow (NAME;depth=3): NAME.pt2 (scripts/export_network.py),
NAME.batch.safetensors (pixels and labels) and NAME.expected.safetensors: logits in use, and of one pass of training the loss, every gradient and every buffer. Channels
come last in memory, as in Stoker; with PyTorch's own order the last bits differ. With --check, NAME.written.pt2 is loaded
instead, and its logits compared. With --export, NAME.pt2 is written for each NAME of an object, whose values are words of
scripts/export_network.py.
"""

import copy
import importlib.util
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "export_network.py"
SAMPLES = 4
# Channels last makes PyTorch 2.15 write beyond its memory for these (stoker/nn/graph/exported_network.cc).
PLAIN_ORDER = ("repvgg_a0", "fastvit_t8")


def load_script():
    spec = importlib.util.spec_from_file_location("export_network", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_life(model):
    """As after training: no bias is 0, no running mean 0, no layer scale tiny. Near 1 and 0, since factors of many layers multiply."""
    with torch.no_grad():
        for name, tensor in list(model.named_parameters()) + list(model.named_buffers()):
            if tensor.dim() == 2 and not tensor.any():  # a head that starts at 0
                tensor.normal_(0, 0.02)
            if tensor.dim() == 1 and tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) * 0.4 + (0.8 if name.endswith(("running_var", "weight", "gamma")) else -0.2))


def with_statistics(model, pixels):
    """Running statistics of these images: with others, activations of deep networks grow until rounding decides their logits."""
    norms = [module for module in model.modules() if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
    with torch.no_grad():
        model.train()(pixels)
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum


def expected_of(model, pixels, labels, order):
    used = copy.deepcopy(model).eval().to(memory_format=order)
    pixels = pixels.contiguous(memory_format=order)
    with torch.no_grad():
        results = {"logits": used(pixels)}
    trained = copy.deepcopy(model).train().to(memory_format=order)
    logits = trained(pixels)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    results |= {"training_logits": logits.detach(), "loss": loss.detach()}
    for name, parameter in trained.named_parameters():
        results["grad." + name] = parameter.grad if parameter.grad is not None else torch.zeros(0)
    for name, buffer in trained.named_buffers():
        results["buffer." + name] = buffer
    return {name: tensor.contiguous().clone() for name, tensor in results.items()}


def check(folder, names):
    """Batches of four images and of one, as fractions of the largest logit."""
    for name in names:
        module = torch.export.load(folder / f"{name}.written.pt2").module()
        pixels = load_file(folder / f"{name}.batch.safetensors")["pixels"]
        expected = load_file(folder / f"{name}.expected.safetensors")["logits"]
        with torch.no_grad():
            apart = max((module(pixels[:count]) - expected[:count]).abs().max() / expected.abs().max() for count in (SAMPLES, 1))
        if not apart < 1e-4:
            sys.exit(f"{name}: the written file's logits are {apart:.2g} apart")
        print(f"{name}: the written file's logits are {apart:.2g} apart")


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if names[0] == "--check":
        check(folder, names[1:])
        return
    script = load_script()
    if names[0] == "--export":
        for name, words in json.loads(names[1]).items():
            sys.argv = ["export_network.py", *words, "--out", str(folder / f"{name}.pt2")]
            script.main()
        return
    torch.set_num_threads(1)
    for word in names:
        name, *settings = word.split(";")
        settings += ["drop_path_rate=0.0"] if "swin" in name else []
        options = script.parse_arguments([name, "--classes", "1000", *(part for setting in settings for part in ("--set", setting))])
        torch.manual_seed(1)
        model, facts = script.make_timm(options)
        with_life(model)
        pixels = torch.randn(SAMPLES, 3, *facts["size"])
        with_statistics(model, pixels)
        labels = torch.arange(SAMPLES) * 7 % 1000
        program = script.export(copy.deepcopy(model), 3, facts["size"])
        torch.export.save(program, folder / f"{name}.pt2", extra_files={"stoker.json": json.dumps({"name": name, **facts})})
        save_file({"pixels": pixels, "labels": labels}, folder / f"{name}.batch.safetensors")
        order = torch.contiguous_format if name in PLAIN_ORDER else torch.channels_last
        save_file(expected_of(model, pixels, labels, order), folder / f"{name}.expected.safetensors")
        print(f"{name}: written", flush=True)


if __name__ == "__main__":
    main()
