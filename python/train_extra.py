"""The extra `stoker[train]` of the wheel: the LibTorch of requirements.txt, which Stoker is built with, for pyproject.toml."""

import pathlib
import re


def dynamic_metadata(_settings, _project):
    text = (pathlib.Path(__file__).parent.parent / "requirements.txt").read_text(encoding="utf-8")
    major, minor, patch = re.search(r"^torch==(\d+)\.(\d+)\.(\d+)$", text, re.M).groups()
    # Functions are linked by name, and another minor version has others (stoker/cli/find_libtorch.h).
    return {"optional-dependencies": {"train": [f"torch>={major}.{minor}.{patch},<{major}.{int(minor) + 1}"]}}
