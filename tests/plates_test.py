#!/usr/bin/env python3
"""`--recipe plates` is the course project's code: PyTorch runs that code on the batches that Stoker made.

Run by ctest with the paths of the programs as STOKER and TRAINING_CAT, where CMake was given a Python that has torch and
torchvision (-DSTOKER_TORCHVISION_PYTHON). Both begin with the same weights, the head's included; the losses of both
phases must agree to 1e-4 for 5 epochs.
"""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
    import torchvision
    from safetensors.torch import load_file
except ImportError as error:
    print(f"skipped: {error}; pip install -r bench/requirements.txt")
    sys.exit(77)

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
PLATES = DATA / "plates"
WEIGHTS = DATA / "weights" / "resnet18_imagenet1k_v1_reconstructed.safetensors"
EPOCHS = 5
LIMIT = 1e-4
torch.set_num_threads(1)


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def train_model(model, batches, validation, loss, optimizer, scheduler, num_epochs):
    """The document's loop. Its loaders are lists here; mean losses of each epoch's two phases are given back."""
    losses = []
    for epoch in range(num_epochs):
        row = []
        for phase in ["train", "val"]:
            if phase == "train":
                dataloader = batches[epoch]
                scheduler.step()
                model.train()
            else:
                dataloader = validation
                model.eval()
            running_loss, samples = 0.0, 0
            for inputs, labels in dataloader:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    preds = model(inputs)
                    loss_value = loss(preds, labels)
                    if phase == "train":
                        loss_value.backward()
                        optimizer.step()
                running_loss += loss_value.item() * len(labels)
                samples += len(labels)
            row.append(running_loss / samples)
        losses.append(row)
    return losses


def document(tensors, epochs):
    """Everything frozen, a new last layer, Adam on what is trainable, StepLR."""
    model = torchvision.models.resnet18()
    for param in model.parameters():
        param.requires_grad = False
    model.fc = torch.nn.Linear(model.fc.in_features, 2)
    model.load_state_dict({name[len("model."):]: tensor for name, tensor in tensors.items() if name.startswith("model.")})
    loss = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1.0e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.1)
    batches = [[(tensors[f"epoch.{e}.batch.{b}.x"], tensors[f"epoch.{e}.batch.{b}.labels"]) for b in range(4)] for e in range(epochs)]
    x, labels = tensors["validation.x"], tensors["validation.labels"]
    return model, train_model(model, batches, [(x, labels)], loss, optimizer, scheduler, epochs)


@unittest.skipUnless(PLATES.is_dir() and WEIGHTS.exists(), f"needs plates and weights in {DATA}")
class Document(unittest.TestCase):
    def test_losses_agree_for_five_epochs(self):
        with tempfile.TemporaryDirectory(prefix="plates-") as folder:
            flags = ["--data", PLATES, "--recipe", "plates", "--model", "resnet18", "--pretrained", WEIGHTS, "--epochs", EPOCHS,
                     "--threads", 1, "--workers", 1]
            run(os.environ["TRAINING_CAT"], f"{folder}/seen.safetensors", *flags)
            run(os.environ["STOKER"], "train", *flags, "--output", folder, "--experiment", "run", "--no-report")
            tensors = load_file(f"{folder}/seen.safetensors")
            with open(f"{folder}/run/results.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            model, theirs = document(tensors, EPOCHS)
            ours = [(float(row["train_loss"]), float(row["val_loss"])) for row in rows]
            for epoch, (here, there) in enumerate(zip(ours, theirs, strict=True), 1):
                print(f"epoch {epoch}: train {here[0]:.6f} and {there[0]:.6f}, val {here[1]:.6f} and {there[1]:.6f}")
                for a, b in zip(here, there, strict=True):
                    self.assertTrue(abs(a - b) <= LIMIT, f"epoch {epoch}: {a} and {b}")
            saved = load_file(f"{folder}/run/weights/last.safetensors")
            for name, tensor in model.state_dict().items():
                self.assertTrue(torch.allclose(saved[name].float(), tensor.float(), rtol=1e-3, atol=1e-4), name)
            moved = (saved["bn1.running_mean"] - tensors["model.bn1.running_mean"]).abs().max().item()
            self.assertGreater(moved, 1e-3, "running statistics of the frozen network must move")


if __name__ == "__main__":
    unittest.main(verbosity=2)
