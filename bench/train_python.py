"""One epoch of training in Python PyTorch, as bench/train_fashion.py's peer: prints samples a second.

    train_python.py mlp|cnn '{"workers": 2, "threads": 1, "kind": "PIL", "channels_last": false, "samples": 60000}'
"""

import json
import pathlib
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from peers.data import IMAGES, find_root, read_images
from peers.torchvision_loader import Images

BATCH = 64
WARM_UP = 20  # batches


class Labelled(Dataset):
    def __init__(self, kind):
        root = find_root("fashion-mnist", pathlib.Path(__file__).resolve().parent.parent)
        self.images = Images(read_images(root / "fashion-mnist" / IMAGES), kind)
        self.labels = torch.arange(60_000) % 10  # what the labels are does not change the time

    def __len__(self):
        return 60_000

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def perceptron():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.Sigmoid(), nn.Linear(128, 10))


def convolutional():
    """cnn:small of stoker/nn/networks/cnn.h."""
    layers, inputs = [], 1
    for stage, outputs in enumerate((16, 48, 128)):
        layers.append(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False))
        if stage < 2:
            layers.append(nn.MaxPool2d(2))
        layers += [nn.BatchNorm2d(outputs), nn.ReLU()]
        inputs = outputs
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(inputs * 49, 10))


def main():
    network, settings = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(settings["threads"])
    model = perceptron() if network == "mlp" else convolutional()
    form = torch.channels_last if settings["channels_last"] else torch.contiguous_format
    model = model.to(memory_format=form)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    loss_of = nn.CrossEntropyLoss()
    data = Subset(Labelled(settings["kind"]), range(settings["samples"]))
    loader = DataLoader(data, BATCH, shuffle=True, num_workers=settings["workers"])
    samples, begin = 0, None
    for number, (pixels, labels) in enumerate(loader):
        if number == WARM_UP:
            begin, samples = time.perf_counter(), 0
        optimiser.zero_grad()
        loss_of(model(pixels.to(memory_format=form)), labels).backward()
        optimiser.step()
        samples += len(labels)
    print(samples / (time.perf_counter() - begin))


if __name__ == "__main__":
    main()
