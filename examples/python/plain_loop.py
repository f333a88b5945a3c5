#!/usr/bin/env python3
"""A plain PyTorch loop that can be stopped at any batch and continues with the next one, bit for bit.

    python plain_loop.py flowers/train --epochs 5 --state state.pt
"""

import argparse
import os

import stoker
import stoker.transforms as T
import torch
from torch import nn


def small_network(classes):
    layers = []
    for channels, out in ((3, 32), (32, 64), (64, 128)):
        layers += [nn.Conv2d(channels, out, 3, stride=2, padding=1), nn.BatchNorm2d(out), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, classes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--state", default="state.pt", help="file that the loop continues from")
    parser.add_argument("--save-every", type=int, default=5, help="batches between two states")
    options = parser.parse_args()

    augment = T.Compose([T.RandomResizedCrop(96), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4)])
    feed = stoker.Feed(options.data, augment=augment, batch_size=48, seed=1, drop_last=True)
    torch.manual_seed(1)
    network = small_network(len(feed.classes))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)

    if os.path.exists(options.state):
        saved = torch.load(options.state, weights_only=True)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        feed.load_state_dict(saved["feed"])

    while feed.epoch < options.epochs:
        epoch = feed.epoch
        for number, (images, labels) in enumerate(feed, 1):
            loss = nn.functional.cross_entropy(network(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number % options.save_every == 0:
                state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "feed": feed.state_dict()}
                torch.save(state, options.state + ".new")
                os.replace(options.state + ".new", options.state)
        print(f"epoch {epoch}: loss of the last batch {loss.item():.6f}, waited {feed.stats()['wait_share']:.1%}")
    digest = sum(parameter.double().abs().sum() for parameter in network.parameters()).item()
    print(f"sum of all weights: {digest:.12f}")


if __name__ == "__main__":
    main()
