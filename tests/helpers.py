"""What tests of the program share: images to write, when a process is ready for a signal, and scripts as modules."""

import importlib.machinery
import importlib.util
import pathlib
import re
import struct
import sys
import types
import zlib
from unittest import mock


def png(path, width, height, value):
    """A colour image: value(x, y) in each channel."""
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in [value(x, y)] * 3) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def catches(process, number):
    """Whether a process has a handler for this signal by now."""
    status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return bool(int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1)


def module_of(script):
    """Imports a Python script whose name has no ending, such as scripts/run_tests."""
    loader = importlib.machinery.SourceFileLoader(script.name, str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(script.name, loader))
    with mock.patch.object(sys, "dont_write_bytecode", True):
        loader.exec_module(module)
    return module


def bare_python_package():
    """Makes `import stoker.transforms` and `import stoker.program` work from the sources, without the extension."""
    package = types.ModuleType("stoker")
    package.__path__ = [str(pathlib.Path(__file__).resolve().parent.parent / "python/stoker")]
    sys.modules["stoker"] = package
