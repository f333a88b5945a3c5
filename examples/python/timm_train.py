#!/usr/bin/env python3
"""timm's train.py, which its repository has and its wheel has not, with Stoker's feed as the training loader.

    git clone --depth 1 https://github.com/huggingface/pytorch-image-models
    python timm_train.py pytorch-image-models/train.py --data-dir flowers --train-split train --val-split test \\
        --model resnet18 --num-classes 12 --train-interpolation bilinear -b 64 -j 8

All arguments behind the path are those of train.py, which stays as it is.
"""

import runpy
import sys

import timm.data
from timm_loader import stoker_loader

# The three lines.
timm.data.create_loader = stoker_loader(timm.data.create_loader)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
