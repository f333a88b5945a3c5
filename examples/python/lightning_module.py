#!/usr/bin/env python3
"""Lightning with Stoker's feed as its loaders; each epoch has its own order and augmentation.

    python lightning_module.py flowers [--epochs 3]        # a folder with train and test

Lightning saves the state of loaders that have one, so a checkpoint in the middle of an epoch continues at the next batch.
"""

import argparse

import lightning as L
import stoker
import stoker.transforms as T
import torch
import torchvision
from torch import nn


class Flowers(L.LightningDataModule):
    def __init__(self, data, batch_size=48):
        super().__init__()
        train = T.Compose([T.RandomResizedCrop(96), T.RandomHorizontalFlip()])
        test = T.Compose([T.Resize(110), T.CenterCrop(96)])
        # rank="auto" reads what torch.distributed or the launcher says when the loader is made.
        self.make = {
            "train": lambda: stoker.Feed(data, split="train", augment=train, batch_size=batch_size, seed=1, drop_last=True, rank="auto"),
            "test": lambda: stoker.Feed(data, split="test", augment=test, batch_size=batch_size, shuffle=False, rank="auto"),
        }
        self.feeds = {}

    def feed(self, split):
        if split not in self.feeds:
            self.feeds[split] = self.make[split]()
        return self.feeds[split]

    def train_dataloader(self):
        return self.feed("train")

    def val_dataloader(self):
        return self.feed("test")


class Classifier(L.LightningModule):
    def __init__(self, classes):
        super().__init__()
        self.network = torchvision.models.resnet18(num_classes=classes)

    def training_step(self, batch, number):
        images, labels = batch
        return nn.functional.cross_entropy(self.network(images), labels)

    def validation_step(self, batch, number):
        images, labels = batch
        correct = (self.network(images).argmax(1) == labels).float().mean()
        self.log("val_top1", correct, prog_bar=True, batch_size=len(labels))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    L.seed_everything(1)
    data = Flowers(options.data)
    # Lightning would put a DistributedSampler into a DataLoader; the feed divides batches between ranks itself.
    trainer = L.Trainer(max_epochs=options.epochs, accelerator="auto", use_distributed_sampler=False, log_every_n_steps=5)
    trainer.fit(Classifier(len(data.feed("train").classes)), data)
    print({name: round(float(value), 4) for name, value in trainer.callback_metrics.items()})


if __name__ == "__main__":
    main()
