"""The extra `stoker[train]` of the wheel: the LibTorch of requirements.txt, which Stoker is built with, for pyproject.toml."""

import pathlib
import re


def dynamic_metadata(field, settings=None):
    if field != "optional-dependencies" or settings:
        raise RuntimeError(f"train_extra gives the optional dependencies and has no settings: got {field}, {settings}")
    text = (pathlib.Path(__file__).parent.parent / "requirements.txt").read_text(encoding="utf-8")
    major, minor, patch = re.search(r"^torch==(\d+)\.(\d+)\.(\d+)$", text, re.M).groups()
    # Functions are linked by name, and another minor version has others (stoker/cli/find_libtorch.h).
    return {"train": [f"torch>={major}.{minor}.{patch},<{major}.{int(minor) + 1}"]}
