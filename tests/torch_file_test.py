#!/usr/bin/env python3
"""Our PyTorch files and those of Python's `torch` hold the same tensors, and no file makes us run anything.

Run by ctest with the paths of the programs as TORCH_FILE_CAT and STOKER. Needs a Python whose torch can be imported (the wheel of
requirements.txt alone lacks CUDA's libraries); without it the test says so and ends with 77, ctest's "skipped" here.
`--make-seeds FILE` writes small files of torch.save as base64 lines: tests/fuzz/torch_file_seeds.base64.
"""

import base64
import collections
import io
import json
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib

try:
    import torch
    import torch.utils.serialization
    import torchvision
    from safetensors.torch import load_file
except (ImportError, OSError) as error:
    print(f"skipped: {error}; pip install -r bench/requirements.txt")
    sys.exit(77)

CAT, STOKER = os.environ.get("TORCH_FILE_CAT", ""), os.environ.get("STOKER", "")
SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA", SOURCE.parent / "shared" / "data"))
MOBILENET = DATA / "weights" / "mobilenet_v2-b0353104.pth"
RESNET = DATA / "weights" / "resnet18_imagenet1k_v1_reconstructed.safetensors"
DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
OLD = {"_use_new_zipfile_serialization": False}
FORMATS = ({}, OLD, {"pickle_protocol": 4})


def cat(*arguments):
    return subprocess.run([CAT, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def every_type():
    """Counting tensors of every type, a transposed one and one of no values."""
    six = torch.arange(6).reshape(2, 3)
    tensors = {name: six.to(dtype) for name, dtype in DTYPES.items()}
    tensors["transposed"] = tensors["F32"].clone().t()
    tensors["none"] = torch.zeros(0, 3)
    return tensors


def checkpoint():
    """What training scripts save: a wrapped network with tied weights, its optimiser, numbers and words."""
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(3, 2))
    net[2].weight = net[0].weight
    with torch.no_grad():
        net[0].weight.copy_(torch.arange(6.0).reshape(2, 3))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net[0](torch.ones(1, 3)).sum().backward()
    optimiser.step()
    with torch.no_grad():
        net[0].weight.copy_(torch.arange(6.0).reshape(2, 3))
    return {"epoch": 3, "best": 0.5, "name": "größe", "done": None, "shape": torch.Size([2, 3]),
            "optimizer": optimiser.state_dict(), "model": torch.nn.DataParallel(net).state_dict()}


def values(tensor):
    """A tensor's bytes, in a row."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def make_seeds(path):
    torch.manual_seed(1)
    parameters = {"p": torch.nn.Parameter(torch.arange(3.0)), "b": torch.zeros(2).expand(3, 2)}
    saved = [(every_type(), {}), (every_type(), OLD), (every_type(), {"pickle_protocol": 4}), (checkpoint(), {}),
             (checkpoint(), OLD), (parameters, {}), (parameters, OLD)]
    lines = []
    for value, options in saved:
        file = io.BytesIO()
        torch.save(value, file, **options)
        lines.append(base64.b64encode(file.getvalue()).decode())
    # Pickles alone, with the storages that tests/fuzz/torch_file_fuzz.cc puts around them.
    six = torch.arange(6)
    for value in ({"w": six.float()}, {"state_dict": {"w": torch.nn.Parameter(six.float().reshape(2, 3).t())}, "epoch": 3},
                  {"a": six.float(), "b": six.double(), "c": six.half(), "d": six.to(torch.uint8)}):
        file = io.BytesIO()
        torch.save(value, file)
        with zipfile.ZipFile(file) as archive:
            lines.append(base64.b64encode(archive.read("archive/data.pkl")).decode())
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.theirs, self.ours = self.folder / "theirs.pth", self.folder / "ours.pth"

    def read(self, path):
        """Which part of the file we read, and a line for each tensor."""
        done = cat(path)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, *lines = map(json.loads, done.stdout.splitlines())
        return first["part"], lines

    def assert_read(self, path, expected):
        part, lines = self.read(path)
        self.assertEqual([line["name"] for line in lines], list(expected))
        for line in lines:
            tensor = expected[line["name"]]
            self.assertEqual(line["dtype"], NAMES[tensor.dtype], line)
            self.assertEqual(line["shape"], list(tensor.shape), line)
            self.assertEqual(line["bytes"], tensor.numel() * tensor.element_size(), line)
            self.assertEqual(line["crc32"], zlib.crc32(values(tensor)), line)
        return part

    def assert_same(self, path, expected, **options):
        found = torch.load(path, weights_only=True, **options)
        self.assertEqual(list(found), list(expected))
        for name, tensor in expected.items():
            self.assertEqual(found[name].dtype, tensor.dtype, name)
            self.assertTrue(torch.equal(found[name], tensor), name)

    def rewrite(self, path=None):
        done = cat(path or self.theirs, self.ours)
        self.assertEqual(done.returncode, 0, done.stderr)


class Reading(Case):
    """We read what torch.save wrote."""

    def test_every_type_in_every_format(self):
        for options in FORMATS:
            with self.subTest(options):
                torch.save(every_type(), self.theirs, **options)
                self.assertEqual(self.assert_read(self.theirs, every_type()), "")

    def test_random_values_and_shapes(self):
        torch.manual_seed(3)
        shapes = [(), (1,), (0,), (7,), (3, 1), (2, 0, 4), (2, 3, 4), (5, 1, 2, 3), (1, 1, 1, 1, 1, 9)]
        tensors = {f"größe {i}.{name}": torch.randn(shape).mul(50).to(dtype)
                   for i, shape in enumerate(shapes) for name, dtype in DTYPES.items()}
        for options in FORMATS:
            torch.save(tensors, self.theirs, **options)
            self.assert_read(self.theirs, tensors)

    def test_values_that_do_not_lie_in_a_row(self):
        x = torch.arange(2 * 3 * 4 * 5).float().reshape(2, 3, 4, 5)
        tensors = {"transposed": x.transpose(1, 3), "permuted": x.permute(3, 0, 2, 1), "every second": x[:, :, ::2],
                   "column": x[..., 2], "channels last": x.contiguous(memory_format=torch.channels_last),
                   "expanded": torch.arange(3.0).expand(4, 3), "one": x[1, 2, 3, 4], "diagonal": x[0, 0].diagonal(),
                   "window": torch.arange(9.0).unfold(0, 3, 2), "empty": x[:, :0], "offset": x[1]}
        for options in FORMATS:
            torch.save(tensors, self.theirs, **options)
            self.assert_read(self.theirs, tensors)

    def test_shared_storages(self):
        x = torch.arange(12.0)
        tensors = {"all": x, "tied": x, "half": x[6:], "even": x[::2], "square": x[:9].reshape(3, 3).t()}
        for options in FORMATS:
            torch.save(tensors, self.theirs, **options)
            self.assert_read(self.theirs, tensors)

    def test_checkpoints(self):
        for options in FORMATS:
            torch.save(checkpoint(), self.theirs, **options)
            expected = torch.load(self.theirs, weights_only=False)["model"]
            self.assertEqual(self.assert_read(self.theirs, expected), "model")

    def test_every_known_part(self):
        state = {"w": torch.arange(3.0)}
        for key in ("state_dict", "model", "model_state_dict", "ema"):
            torch.save({"epoch": 1, key: collections.OrderedDict(state), "loss": torch.tensor(1.0)}, self.theirs)
            self.assertEqual(self.assert_read(self.theirs, state), key)

    def test_parameters(self):
        tensors = {"w": torch.nn.Parameter(torch.randn(2, 3)), "b": torch.nn.Parameter(torch.randn(3), False)}
        for options in FORMATS:
            torch.save(tensors, self.theirs, **options)
            self.assert_read(self.theirs, tensors)

    def test_files_without_checksums(self):
        torch.serialization.set_crc32_options(False)
        self.addCleanup(torch.serialization.set_crc32_options, True)
        torch.save(every_type(), self.theirs)
        self.assert_read(self.theirs, every_type())

    def test_any_storage_alignment(self):
        for alignment in (1, 64, 4096):
            with self.subTest(alignment):
                torch.utils.serialization.config.save.storage_alignment = alignment
                self.addCleanup(setattr, torch.utils.serialization.config.save, "storage_alignment", 64)
                torch.save(every_type(), self.theirs)
                self.assert_read(self.theirs, every_type())

    def test_an_archive_packed_again_by_zipfile(self):
        torch.save(every_type(), self.theirs)
        with zipfile.ZipFile(self.theirs) as source, zipfile.ZipFile(self.ours, "w", zipfile.ZIP_STORED) as target:
            for name in source.namelist():
                target.writestr(name, source.read(name))
        self.assert_read(self.ours, every_type())

    def test_files_of_python_2(self):
        """Text as bytes, and the dict as a list of pairs."""
        torch.save({"w": torch.arange(3.0)}, self.theirs)
        with zipfile.ZipFile(self.theirs) as source:
            records = {name.split("/", 1)[1]: source.read(name) for name in source.namelist()}
        rebuilt = (b"ctorch._utils\n_rebuild_tensor\n((U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x03tQ"
                   b"K\x00(K\x03t(K\x01ttR")
        old_parameter = b"ctorch.nn.parameter\nParameter\n(" + rebuilt + b"t\x81(\x88\x89}tb"
        for value in (rebuilt, old_parameter):
            records["data.pkl"] = b"\x80\x02ccollections\nOrderedDict\n](](U\x01w" + value + b"ee\x85R."
            with zipfile.ZipFile(self.ours, "w", zipfile.ZIP_STORED) as target:
                for name, content in records.items():
                    target.writestr("a/" + name, content)
            self.assert_read(self.ours, {"w": torch.arange(3.0)})

    @unittest.skipUnless(MOBILENET.is_file(), "needs $STOKER_TEST_DATA/weights/mobilenet_v2-b0353104.pth")
    def test_mobilenet_as_published(self):
        expected = torch.load(MOBILENET, weights_only=True)
        self.assertEqual(len(expected), 314)
        self.assert_read(MOBILENET, expected)
        self.rewrite(MOBILENET)
        self.assert_same(self.ours, expected)


class Writing(Case):
    """torch.load reads what we wrote."""

    def test_every_type(self):
        for options in FORMATS:
            torch.save(every_type(), self.theirs, **options)
            self.rewrite()
            for mapped in (False, True):
                self.assert_same(self.ours, every_type(), mmap=mapped)

    def test_loads_into_a_network(self):
        net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
        torch.save(net.state_dict(), self.theirs)
        self.rewrite()
        other = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
        other.load_state_dict(torch.load(self.ours, weights_only=True))
        self.assertTrue(torch.equal(other[0].weight, net[0].weight))

    def test_the_same_tensors_make_the_same_bytes(self):
        contents = []
        for options in FORMATS:
            torch.save(every_type(), self.theirs, **options)
            self.rewrite()
            contents.append(self.ours.read_bytes())
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(contents[0], contents[2])

    def test_nothing(self):
        torch.save({}, self.theirs)
        self.rewrite()
        self.assertEqual(torch.load(self.ours, weights_only=True), {})

    def test_python_finds_the_archive_whole(self):
        torch.save(every_type(), self.theirs)
        self.rewrite()
        with zipfile.ZipFile(self.ours) as archive:
            self.assertIsNone(archive.testzip())

    def test_sizes_of_64_bits(self):
        torch.save(every_type(), self.theirs)
        self.rewrite()
        wide = self.folder / "wide.pth"
        done = cat("--zip64", self.ours, wide)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"PK\x06\x06", wide.read_bytes())
        self.assert_same(wide, every_type())
        self.assert_read(wide, every_type())


@unittest.skipUnless(MOBILENET.is_file() and RESNET.is_file(), f"needs {MOBILENET} and {RESNET}")
class Exported(Case):
    """`stoker export --format pth` writes what torchvision's networks take, every tensor of them."""

    def stoker(self, *arguments):
        done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_loads(self, name, classes):
        state = torch.load(self.ours, weights_only=True)
        network = torchvision.models.get_model(name, weights=None, num_classes=classes)
        network.load_state_dict(state, strict=True)
        for key, tensor in network.state_dict().items():
            self.assertEqual((tensor.dtype, tensor.shape), (state[key].dtype, state[key].shape), key)
            self.assertTrue(torch.equal(tensor, state[key]), key)
        return state

    def test_published_weights_come_back_as_they_were(self):
        for name, weights in (("mobilenet_v2", MOBILENET), ("resnet18", RESNET)):
            with self.subTest(name):
                model = self.folder / "model.safetensors"
                self.stoker("export", weights, "--model", name, "--out", model, "--force")
                self.stoker("export", model, "--format", "pth", "--out", self.ours, "--force")
                state = self.assert_loads(name, 1000)
                published = load_file(weights) if weights == RESNET else torch.load(weights, weights_only=True)
                self.assertEqual(sorted(state), sorted(published))
                for key, tensor in published.items():
                    self.assertTrue(torch.equal(state[key], tensor), key)

    @unittest.skipUnless((DATA / "plates").is_dir(), f"needs {DATA / 'plates'}")
    def test_a_finetuned_network_for_other_classes(self):
        for name, weights in (("mobilenet_v2", MOBILENET), ("resnet18", RESNET)):
            with self.subTest(name):
                self.stoker("train", "--data", DATA / "plates", "--recipe", "plates", "--model", name, "--pretrained", weights,
                            "--freeze", "none", "--epochs", 1, "--batches-per-epoch", 1, "--output", self.folder,
                            "--experiment", name)
                self.stoker("export", self.folder / name / "weights" / "last.safetensors", "--out", self.ours, "--force")
                state = self.assert_loads(name, 2)
                counted = {int(state[key]) for key in state if key.endswith("num_batches_tracked")}
                self.assertEqual(len(counted), 1)  # every norm saw the same batches


def shell_command(command):
    """os.system(command) as Python pickles it."""
    return b"cposix\nsystem\nX" + struct.pack("<I", len(command)) + command.encode() + b"\x85R"


class Hostile(Case):
    """Refused with a message; a file that any of them would make is not there afterwards."""

    def setUp(self):
        super().setUp()
        self.canary = self.folder / "canary"
        self.touch = f"touch {self.canary}"

    def zip_of(self, pickle_bytes, more=()):
        with zipfile.ZipFile(self.theirs, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("a/data.pkl", pickle_bytes)
            archive.writestr("a/version", "3\n")
            for name, content in more:
                archive.writestr(name, content)
        return self.theirs.read_bytes()

    def old_of(self, pickle_bytes):
        header = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
        return b"".join(pickle.dumps(part, 2) for part in header) + pickle_bytes + pickle.dumps([], 2)

    def assert_refused(self, content, word=""):
        self.theirs.write_bytes(content)
        done = cat(self.theirs)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(f"{self.theirs}, byte ", done.stderr)
        self.assertIn(word, done.stderr)
        self.assertFalse(self.canary.exists(), "the file was executed")

    def payloads(self):
        """Pickles that do something in Python, with the name in our refusal."""
        touch = self.touch.encode()
        text = b"X" + struct.pack("<I", len(touch)) + touch
        python = f"__import__('os').system({self.touch!r})".encode()
        code = b"X" + struct.pack("<I", len(python)) + python
        call = shell_command(self.touch)

        class Reduce:
            def __init__(self, function, *arguments):
                self.result = function, arguments

            def __reduce__(self):
                return self.result

        yield b"\x80\x02" + call + b".", "refused: posix.system"
        yield b"\x80\x02cos\nsystem\n" + text + b"\x85R.", "refused: os.system"
        yield b"\x80\x02cbuiltins\neval\n" + code + b"\x85R.", "refused: builtins.eval"
        yield b"\x80\x02cbuiltins\nexec\n" + code + b"\x85R.", "refused: builtins.exec"
        yield b"\x80\x02c__builtin__\neval\n" + code + b"\x85R.", "refused: __builtin__.eval"
        yield b"\x80\x02csubprocess\ncall\n(" + text + b"\x88tR.", "refused: subprocess.call"
        yield b"\x80\x02(ios\nsystem\n.", "refused: opcode INST of os.system"
        yield b"\x80\x02(" + text + b"ios\nsystem\n.", "refused: opcode INST of os.system"
        yield b"\x80\x02(cos\nsystem\n" + text + b"o.", "refused: os.system"
        yield b"\x80\x02(ccollections\nOrderedDict\n" + text + b"o.", "refused: opcode OBJ"
        yield b"\x80\x02cos\nsystem\n" + text + b"\x85\x81.", "refused: os.system"
        yield b"\x80\x02ctorch\nFloatStorage\n)\x81.", "refused: a call of torch.FloatStorage"
        yield b"\x80\x02ctorch.nn.parameter\nParameter\n)}\x92.", "refused: opcode NEWOBJ_EX"
        yield b"\x80\x04\x8c\x02os\x8c\x06system\x93" + text + b"\x85R.", "refused: os.system"
        yield b"\x80\x04\x8c\x05torch\x8c\x10_utils.os.system\x93.", "refused: torch._utils.os.system"
        # getattr, and names that reach other modules through a known one
        yield b"\x80\x02cbuiltins\ngetattr\n(cos\nX\x06\x00\x00\x00systemtR.", "refused: builtins.getattr"
        yield b"\x80\x02ctorch._utils\nsys.modules\n.", "refused: torch._utils.sys.modules"
        yield b"\x80\x02ctorch\nload\n" + text + b"\x85R.", "refused: torch.load"
        yield b"\x80\x02ctorch.storage\n_load_from_bytes\n" + text + b"\x85R.", "_load_from_bytes"
        yield b"\x80\x02ctorch._utils\n_rebuild_device_tensor_from_numpy\n)R.", "_rebuild_device_tensor_from_numpy"
        # BUILD: attributes of a function, state of an object, __setstate__ of what a call made
        yield b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x08\x00\x00\x00__call__" + call + b"sb.", "refused: posix"
        yield b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}b.", "refused: a state for a function or class"
        # reduce chains: what one call returns is called
        yield b"\x80\x02ccollections\nOrderedDict\n)R)R.", "Expected a function to call"
        yield b"\x80\x02ctorch\nSize\n)R" + text + b"\x85R.", "Expected a function to call"
        yield b"\x80\x02\x82\x01.", "refused: opcode EXT1"
        yield b"\x80\x02Pos.system\n.", "refused: opcode PERSID"
        yield pickle.dumps(Reduce(os.system, self.touch), 2), "refused: posix.system"
        yield pickle.dumps({"w": Reduce(eval, python.decode())}, 4), "refused: builtins.eval"
        yield pickle.dumps({Reduce(os.system, self.touch): 1}, 2), "refused: posix.system"
        yield pickle.dumps([[[(Reduce(os.system, self.touch),)]]], 5), "refused: posix.system"
        yield pickle.dumps({"w": Reduce(getattr, Reduce(__import__, "os"), "system")}, 2), "refused: "

    def test_no_call_is_made(self):
        count = 0
        for payload, word in self.payloads():
            with self.subTest(word):
                self.assert_refused(self.zip_of(payload), word)
                self.assert_refused(self.old_of(payload), word)
                # In the old format's other pickles, too.
                self.assert_refused(payload)
                count += 1
        self.assertGreater(count, 25)

    def test_the_payloads_are_real(self):
        """Python's own unpickler runs the first of them: the canary would be seen."""
        payload, _ = next(self.payloads())
        pickle.loads(payload)
        self.assertTrue(self.canary.exists())

    def test_a_call_hidden_in_a_real_checkpoint(self):
        class Touch:
            def __init__(self, command):
                self.command = command

            def __reduce__(self):
                return os.system, (self.command,)

        for options in FORMATS:
            content = checkpoint() | {"hook": Touch(self.touch)}
            torch.save(content, self.theirs, **options)
            self.assert_refused(self.theirs.read_bytes(), "refused: posix.system")

    def test_a_whole_network_is_refused_by_its_class(self):
        for options in FORMATS:
            torch.save(torch.nn.Linear(2, 2), self.theirs, **options)
            self.assert_refused(self.theirs.read_bytes(), "refused: torch.nn.modules.linear.Linear")

    def test_types_that_we_do_not_have_are_refused_by_name(self):
        for tensor, word in ((torch.zeros(2, dtype=torch.complex64), "refused: torch.ComplexFloatStorage"),
                             (torch.zeros(2, dtype=torch.uint16), "refused: torch._utils._rebuild_tensor_v3"),
                             (torch.eye(2).to_sparse(), "refused: torch._utils._rebuild_sparse_tensor")):
            torch.save({"w": tensor}, self.theirs)
            self.assert_refused(self.theirs.read_bytes(), word)

    def test_a_torchscript_program_is_refused(self):
        torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), str(self.theirs))
        self.assert_refused(self.theirs.read_bytes(), "TorchScript")

    def test_compressed_records_are_refused_by_name(self):
        torch.save({"w": torch.zeros(1000, 1000)}, self.theirs)
        bomb = io.BytesIO()
        with zipfile.ZipFile(self.theirs) as source, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                target.writestr(name, source.read(name))
        self.assertLess(len(bomb.getvalue()), 20_000)
        self.assert_refused(bomb.getvalue(), "compressed")

    def test_a_changed_number_in_a_real_file(self):
        """Sizes and places of the directory, one by one, become huge, and those of the pickle wrong."""
        torch.save({"w": torch.arange(6.0)}, self.theirs)
        good = self.theirs.read_bytes()
        central = good.find(b"PK\x01\x02")
        for field, size in ((10, 2), (20, 4), (24, 4), (42, 4)):
            content = bytearray(good)
            content[central + field:central + field + size] = b"\xf0" * size
            self.assert_refused(bytes(content))
        torch.save({"w": torch.arange(6.0)}, self.theirs, **OLD)
        good = self.theirs.read_bytes()
        for offset in range(good.find(b"OrderedDict"), len(good) - 24):
            content = bytearray(good)
            content[offset] ^= 0xFF
            self.theirs.write_bytes(content)
            self.assertIn(cat(self.theirs).returncode, (0, 1))

    def test_truncated_at_every_byte(self):
        for options in FORMATS:
            torch.save({"w": torch.arange(6.0)}, self.theirs, **options)
            good = self.theirs.read_bytes()
            for size in range(len(good)):
                self.assert_refused(good[:size])


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--make-seeds":
        make_seeds(sys.argv[2])
    else:
        unittest.main(verbosity=2)
