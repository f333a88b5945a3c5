"""Finds and reads the training images (IDX, gzip)."""

import gzip
import os
from pathlib import Path

import numpy as np

IMAGES = "train-images-idx3-ubyte.gz"
DEBIAN_DATASETS = Path("/usr/share/datasets")  # where dataset-fashion-mnist puts its files


def find_root(name, repository):
    """The first folder that holds NAME/train-images-idx3-ubyte.gz."""
    test_data = os.environ.get("STOKER_TEST_DATA", repository / ".." / "shared" / "data")
    roots = [os.environ.get("STOKER_DATA"), test_data, DEBIAN_DATASETS]
    for root in (Path(r) for r in roots if r):
        if (root / name / IMAGES).is_file():
            return root
    raise SystemExit(
        f"{name}/{IMAGES} not found in $STOKER_DATA, $STOKER_TEST_DATA or Debian's dataset folder; "
        "Fashion-MNIST: apt-get install dataset-fashion-mnist"
    )


def read_images(path):
    """uint8 [n, 28, 28], checked against the header."""
    raw = gzip.decompress(Path(path).read_bytes())
    magic, n, rows, columns = np.frombuffer(raw, ">u4", count=4)
    if magic != 0x803 or (rows, columns) != (28, 28) or len(raw) != 16 + n * 784:
        raise SystemExit(f"{path}: not an IDX file of 28x28 images")
    return np.frombuffer(raw, np.uint8, offset=16).reshape(n, 28, 28).copy()
