#!/usr/bin/env python3
"""Our safetensors files and those of Python's `safetensors` are the same files.

Run by ctest with the path of the test program as SAFETENSORS_CAT. Needs `pip install
safetensors==0.8.0 numpy`; without them it says so and ends with 77, ctest's "skipped" here.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zlib

try:
    import numpy as np
    import safetensors
    from safetensors.numpy import load_file, save_file
except ImportError as error:
    print(f"skipped: {error}; pip install safetensors==0.8.0 numpy")
    sys.exit(77)

CAT = os.environ["SAFETENSORS_CAT"]
DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32,
          "I16": np.int16, "I8": np.int8, "U8": np.uint8, "BOOL": np.bool_}


def cat(*arguments):
    return subprocess.run([CAT, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def sample():
    """Every type that numpy has, in shapes from none to four sizes."""
    random = np.random.default_rng(7)
    shapes = [(), (0,), (3,), (2, 5), (0, 7), (1, 2, 3), (4, 1, 3, 2), (129,), (16, 17)]
    return {f"layer.{i}.größe \"{name}\"": random.integers(0, 2 if name == "BOOL" else 100, shape).astype(dtype)
            for i, ((name, dtype), shape) in enumerate(zip(DTYPES.items(), shapes, strict=True))}


def raw_file(header, values):
    """A file of the format's parts: for types that numpy lacks, and for damage."""
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


class TwoLibraries(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.theirs = pathlib.Path(self.folder.name, "theirs.safetensors")
        self.ours = pathlib.Path(self.folder.name, "ours.safetensors")

    def rewrite(self):
        done = cat(self.theirs, self.ours)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_we_read_what_python_wrote(self):
        tensors, metadata = sample(), {"format": "np", "classes": "[\"Ärmel\\n\"]", "": ""}
        save_file(tensors, self.theirs, metadata)
        done = cat(self.theirs)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, *lines = map(json.loads, done.stdout.splitlines())
        self.assertEqual(first, {"metadata": metadata})
        self.assertEqual({line["name"] for line in lines}, set(tensors))
        for line in lines:
            tensor = tensors[line["name"]]
            self.assertEqual(DTYPES[line["dtype"]], tensor.dtype)
            self.assertEqual(tuple(line["shape"]), tensor.shape)
            self.assertEqual(line["bytes"], tensor.nbytes)
            self.assertEqual(line["crc32"], zlib.crc32(tensor.tobytes()))

    def test_python_reads_what_we_wrote(self):
        tensors, metadata = sample(), {"format": "np", "model": "mlp:784,128,10"}
        save_file(tensors, self.theirs, metadata)
        self.rewrite()
        found = load_file(self.ours)
        self.assertEqual(set(found), set(tensors))
        for name, tensor in tensors.items():
            self.assertEqual(found[name].dtype, tensor.dtype)
            np.testing.assert_array_equal(found[name], tensor, strict=True)
        with safetensors.safe_open(self.ours, framework="numpy") as file:
            self.assertEqual(file.metadata(), metadata)

    def test_both_write_the_same_bytes(self):
        for metadata in (None, {"format": "np"}):  # Python's order of several keys is not fixed
            save_file(sample(), self.theirs, metadata)
            self.rewrite()
            self.assertEqual(self.ours.read_bytes(), self.theirs.read_bytes())

    def test_both_write_the_same_file_without_tensors(self):
        save_file({}, self.theirs)
        self.rewrite()
        self.assertEqual(self.ours.read_bytes(), self.theirs.read_bytes())

    def test_bfloat16_passes_through_both(self):
        header = {"b": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}
        self.theirs.write_bytes(raw_file(header, b"\x80\x3f\x00\xc0"))
        self.rewrite()
        ((name, tensor),) = safetensors.deserialize(self.ours.read_bytes())
        self.assertEqual((name, tensor["dtype"], tensor["shape"]), ("b", "BF16", [2]))
        self.assertEqual(bytes(tensor["data"]), b"\x80\x3f\x00\xc0")

    def test_both_refuse_the_same_files(self):
        def entry(dtype="U8", shape=(8,), offsets=(0, 8)):
            return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}

        eight = bytes(8)
        bad = {
            "empty": b"",
            "no header": eight,
            "huge header": b"\xff" * 8 + b"{}",
            "hole": raw_file({"a": entry("U8", [7], [1, 8])}, eight),
            "overlap": raw_file({"a": entry(), "b": entry("U8", [4], [4, 8])}, eight),
            "beyond the end": raw_file({"a": entry("U8", [9], [0, 9])}, eight),
            "bytes left over": raw_file({"a": entry()}, eight + b"x"),
            "shape": raw_file({"a": entry("F32", [3])}, eight),
            "overflow": raw_file({"a": entry("U8", [2**62, 4, 2])}, eight),
            "negative": raw_file({"a": entry("U8", [-8])}, eight),
            "dtype": raw_file({"a": entry("U9")}, eight),
            "metadata": raw_file({"__metadata__": {"a": 1}}, b""),
        }
        for name, content in bad.items():
            with self.subTest(name):
                self.theirs.write_bytes(content)
                with self.assertRaises(safetensors.SafetensorError):
                    safetensors.deserialize(content)
                done = cat(self.theirs)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{self.theirs}, byte ", done.stderr)
                self.assertIn("Expected", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
