#!/usr/bin/env python3
"""Files of weights made to do harm are refused by every command that takes weights, with a message, and run nothing.

Run by ctest with the program's path as STOKER; needs Fashion-MNIST (Debian's package) for `train`. Payloads are pickles
written by hand, so Python's standard library is enough. What the reader itself refuses, opcode by opcode, stands in
stoker/io/pickle_test.cc, zip_archive_test.cc and torch_file_hostile_test.cc. The class All gives every file to every command;
nightly runs it.
"""

import io
import os
import pathlib
import pickle
import resource
import struct
import subprocess
import tempfile
import unittest
import zipfile

STOKER = os.environ["STOKER"]
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
MODEL = "mlp:784,10"
CALL_DICT = b"ccollections\nOrderedDict\n)R"


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def integer(value):
    return pickle.dumps(value, 2)[2:-1]


def tensor(key, values, shape, offset=0):
    """A tensor in a row, as torch.save pickles it."""
    strides = [shape[1], 1] if len(shape) == 2 else [1]
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + integer(values) + b"tQ"
    sizes = [b"(" + b"".join(map(integer, numbers)) + b"t" for numbers in (shape, strides)]
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + integer(offset) + b"".join(sizes) + b"\x89" + CALL_DICT + b"tR"


def state_dict(bias=None, more=b""):
    """The pickle of weights that fit the network, with another bias or something behind it."""
    weight, bias = tensor("0", 7840, (784, 10)), bias or tensor("1", 10, (10,))
    return b"\x80\x02}(" + text("layers.0.weight") + weight + text("layers.0.bias") + bias + more + b"u."


def archive(pickled, compression=zipfile.ZIP_STORED, bias_bytes=bytes(40), weight_bytes=bytes(31360)):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as records:
        for name, content in (("data.pkl", pickled), ("version", b"3\n"), ("data/0", weight_bytes), ("data/1", bias_bytes)):
            records.writestr(zipfile.ZipInfo("a/" + name), content, compression)
    return file.getvalue()


def overlapping():
    """The record data/1 lies inside data/0: valid headers and checksums, and one byte of the file in two records."""
    plain = archive(state_dict())
    begin = plain.index(b"a/data/1") - 30  # its local header
    header_and_values = plain[begin:begin + 30 + len("a/data/1") + 40]
    content = bytearray(archive(state_dict(), weight_bytes=header_and_values + bytes(31360 - len(header_and_values))))
    entry = content.rindex(b"a/data/1") - 46  # of the directory
    struct.pack_into("<I", content, entry + 42, content.index(header_and_values))
    return bytes(content)


class Reduce:
    """Pickles as a call."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def old_format(pickled):
    """The format before PyTorch 1.6: pickles one after the other."""
    header = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    return b"".join(pickle.dumps(part, 2) for part in header) + pickled + pickle.dumps([], 2)


class HostileWeights(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file, self.canary = self.folder / "evil.pth", self.folder / "canary"

    def stoker(self, *arguments):
        return subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False,
                              cwd=self.folder)

    def files(self):
        """Each with a word of the message that it must meet."""
        touch = f"touch {self.canary}"
        python = f"open({str(self.canary)!r}, 'w')"
        shell = text("hook") + b"cos\nsystem\n" + text(touch) + b"\x85R"
        yield "os.system", archive(state_dict(more=shell)), "refused: os.system"
        yield "os.system alone", archive(pickle.dumps(Reduce(os.system, touch), 2)), "refused: posix.system"
        yield "the old format", old_format(pickle.dumps(Reduce(os.system, touch), 2)), "refused: posix.system"
        yield "no archive", pickle.dumps(Reduce(os.system, touch), 2), ""
        yield "eval", archive(state_dict(more=text("e") + b"cbuiltins\neval\n" + text(python) + b"\x85R")), "builtins.eval"
        yield "exec", archive(state_dict(more=text("e") + b"cbuiltins\nexec\n" + text(python) + b"\x85R")), "builtins.exec"
        yield ("a chain of calls", archive(pickle.dumps({"w": Reduce(getattr, Reduce(__import__, "os"), "system")}, 2)),
               "refused: ")
        yield "a call of a call's result", archive(state_dict(more=text("e") + CALL_DICT + b")R")), "a function to call"
        yield ("a storage larger than the file", archive(state_dict(tensor("1", 1 << 40, (1 << 40,)))),
               "storages inside the")
        yield "a shape larger than its storage", archive(state_dict(tensor("1", 10, (1 << 40,)))), "a place in its storage"
        yield "an offset behind its storage", archive(state_dict(tensor("1", 10, (10,), 1))), "a place in its storage"
        yield "a negative offset", archive(state_dict(tensor("1", 10, (10,), -1))), "layers.0.bias"
        yield "a zip bomb", archive(state_dict(), zipfile.ZIP_DEFLATED, weight_bytes=bytes(1 << 28)), "compressed"
        yield "records that overlap", overlapping(), "overlap"

    def chosen(self, number, commands):
        """One command for each file, in turn, and all of them for the first."""
        return commands if number == 0 else commands[number % len(commands):][:1]

    def commands(self):
        out = self.folder / "out"
        yield ("train", "--data", "fashion-mnist", "--model", MODEL, "--pretrained", self.file, "--output", out)
        yield ("predict", "fashion-mnist", "--model", MODEL, "--val-aa", "resize(28,28)", "--weights", self.file)
        yield ("export", self.file, "--out", out / "weights.safetensors")

    def test_the_same_file_without_harm_is_read(self):
        self.file.write_bytes(archive(state_dict()))
        done = self.stoker("export", self.file, "--out", self.folder / "weights.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_call_is_what_it_seems(self):
        """Python's own unpickler runs it: the canary would be seen."""
        pickle.loads(pickle.dumps(Reduce(os.system, f"touch {self.canary}"), 2))
        self.assertTrue(self.canary.exists())

    @unittest.skipUnless(FASHION.is_dir(), f"needs {FASHION}")
    def test_is_refused_with_a_message_and_runs_nothing(self):
        for number, (name, content, word) in enumerate(self.files()):
            self.file.write_bytes(content)
            for command in self.chosen(number, list(self.commands())):
                with self.subTest(name, command=command[0]):
                    done = self.stoker(*command)
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                    self.assertIn(str(self.file), done.stderr)
                    self.assertIn(word, done.stderr)
                    self.assertFalse(self.canary.exists(), "the file was executed")
                    self.assertFalse((self.folder / "out").exists(), "something was written")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        self.assertLess(most, 1500, "MB of memory: a number in a file was believed")


class All(HostileWeights):
    def chosen(self, number, commands):
        return commands


if __name__ == "__main__":
    unittest.main(verbosity=2)
