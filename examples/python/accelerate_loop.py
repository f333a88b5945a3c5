#!/usr/bin/env python3
"""Accelerate with Stoker's feed, on one process or several.

    python accelerate_loop.py flowers/train [--epochs 3]
    ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2 accelerate_loop.py flowers/train

The feed is not given to prepare(): it divides each batch between the ranks itself, and a batch has the same images on any number.
"""

import argparse

import stoker
import stoker.transforms as T
import torch
import torchvision
from accelerate import Accelerator
from torch import nn


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()

    accelerator = Accelerator()
    augment = T.Compose([T.RandomResizedCrop(96), T.RandomHorizontalFlip()])
    feed = stoker.Feed(options.data, augment=augment, batch_size=48, seed=1, drop_last=True, rank="auto", framework="torch")
    torch.manual_seed(1)
    network = torchvision.models.resnet18(num_classes=len(feed.classes))
    network, optimizer = accelerator.prepare(network, torch.optim.AdamW(network.parameters(), lr=1e-3))
    accelerator.register_for_checkpointing(feed)  # save_state() and load_state() keep its place

    for epoch in range(options.epochs):
        for images, labels in feed:
            images, labels = images.to(accelerator.device), labels.to(accelerator.device)
            loss = nn.functional.cross_entropy(network(images), labels)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        mean = accelerator.reduce(loss.detach(), reduction="mean").item()
        accelerator.print(f"epoch {epoch}: loss of the last batch {mean:.4f}, {feed.ranks} rank(s)")
    accelerator.end_training()


if __name__ == "__main__":
    main()
