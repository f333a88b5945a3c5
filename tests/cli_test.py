#!/usr/bin/env python3
"""Tries the program as its users do: real data, wrong words, a broken file, no disk, a terminal.

Run by ctest with the program's path as STOKER. Needs Fashion-MNIST (Debian's dataset-fashion-mnist).
"""

import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
FASHION = ["--data", "fashion-mnist"]
# By the files, not by the program: it must not skip its own tests by failing.
HAS_FASHION = any(
    pathlib.Path(place, "fashion-mnist").is_dir()
    for place in filter(None, (os.environ.get("STOKER_DATA"), "/usr/share/datasets"))
)
needs_fashion = unittest.skipUnless(HAS_FASHION, "needs Fashion-MNIST: apt install dataset-fashion-mnist")


def run(*arguments, env=None, **options):
    environment = {**os.environ, **(env or {})}
    return subprocess.run([STOKER, *arguments], capture_output=True, text=True, env=environment, timeout=120, **options)


def bench(*arguments, env=None):
    done = run("bench", "feed", *FASHION, "--aa", "mnist", "--json", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_fashion
class BenchFeed(unittest.TestCase):
    """The digest of two epochs of augmented Fashion-MNIST."""

    @classmethod
    def setUpClass(cls):
        cls.whole = bench("--epochs", "2", "--workers", "1")

    def test_prints_the_promised_fields(self):
        for key in ("digest", "samples_per_second", "wait_share", "workers", "simd"):
            self.assertIn(key, self.whole)
        self.assertEqual(self.whole["samples"], 120000)
        self.assertEqual(self.whole["workers"], 1)

    def test_digest_does_not_depend_on_the_number_of_workers(self):
        for workers in ("2", "3", "8"):
            self.assertEqual(bench("--epochs", "2", "--workers", workers)["digest"], self.whole["digest"])

    def test_digest_does_not_depend_on_the_instruction_set(self):
        listed = run("bench", "feed", *FASHION, "--simd", "nonsense")
        self.assertEqual(listed.returncode, 1)
        names = re.search(r"one of ([a-z0-9_, ]+), got", listed.stderr).group(1).split(", ")
        self.assertGreaterEqual(len(names), 2)
        part = ("--epochs", "2", "--batches-per-epoch", "300")  # the reference is slow
        expected = bench(*part)["digest"]
        for name in names:
            result = bench(*part, env={"STOKER_SIMD": name})
            self.assertEqual(result["simd"], name)
            self.assertEqual(result["digest"], expected, name)

    def test_a_run_from_the_middle_is_the_tail_of_the_whole(self):
        for place in ("0:64", "1:0", "1:32000", "1:33333"):
            tail = bench("--epochs", "2", "--from", place)
            self.assertEqual(tail["digest"], bench("--epochs", "2", "--digest-from", place)["digest"], place)
            self.assertNotEqual(tail["digest"], self.whole["digest"])

    def test_seed_and_policy_change_the_digest(self):
        self.assertNotEqual(bench("--epochs", "2", "--seed", "1")["digest"], self.whole["digest"])
        self.assertNotEqual(bench("--epochs", "2", "--aa", "noise(0.1)")["digest"], self.whole["digest"])


class WrongUse(unittest.TestCase):
    def expect(self, code, *words, arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_messages_say_what_was_expected_and_what_to_do(self):
        self.expect(2, "subcommand", arguments=[])
        self.expect(2, "--data is missing", arguments=["preview"])
        self.expect(1, "Did you mean fashion-mnist?", arguments=["preview", "--data", "fashion-minst"])
        missing = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "folder")
        self.expect(1, "Check the path", arguments=["preview", "--data", missing])
        self.expect(2, "Did you mean rotate?", arguments=["preview", *FASHION, "--aa", "rotat(1)"])
        self.expect(1, "EPOCH:POSITION", arguments=["bench", "feed", *FASHION, "--from", "7"])
        self.expect(1, "at most 60000", arguments=["bench", "feed", *FASHION, "--from", "0:60001"])

    def test_missing_data_lists_files_and_places(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("preview", "--data", "mnist", env={"STOKER_DATA": empty, "STOKER_TEST_DATA": empty,
                                                          "XDG_CACHE_HOME": empty, "HOME": empty})
            if done.returncode == 0:
                self.skipTest("MNIST is installed system-wide")
            self.assertEqual(done.returncode, 1)
            self.assertIn("train-images-idx3-ubyte", done.stderr)
            self.assertIn(empty, done.stderr)

    @needs_fashion
    def test_no_disk(self):
        self.expect(1, "No space left", arguments=["preview", *FASHION, "-o", "/dev/full"])
        missing = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "folder", "sheet.png")
        self.expect(1, missing, arguments=["preview", *FASHION, "-o", missing])
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([STOKER, "ops"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)
        self.expect(1, "cannot write the batch",
                    arguments=["bench", "feed", *FASHION, "--save-batch", "/dev/full"])

    @needs_fashion
    def test_damaged_files_are_named_with_the_place(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in pathlib.Path("/usr/share/datasets/fashion-mnist").glob("*.gz"):
                shutil.copy(path, folder)
            images = pathlib.Path(folder, "train-images-idx3-ubyte.gz")
            whole = images.read_bytes()
            images.write_bytes(whole[: len(whole) // 2])
            self.expect(1, str(images), arguments=["preview", "--data", folder])
            images.write_bytes(gzip.compress(b"not an IDX file at all"))
            self.expect(1, str(images), "byte", arguments=["preview", "--data", folder])


@needs_fashion
class Preview(unittest.TestCase):
    def test_writes_a_png_of_a_sensible_size(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "sheet.png")
            done = run("preview", *FASHION, "--aa", "mnist", "-n", "10", "-o", str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            data = path.read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
            self.assertGreater(width, 9 * 56)
            self.assertGreater(height, 10 * 56)


PLATES = pathlib.Path(os.environ.get("STOKER_TEST_DATA", SOURCE.parent / "shared" / "data"), "plates")
needs_plates = unittest.skipUnless((PLATES / "train").is_dir(), f"needs the plates in {PLATES}: set STOKER_TEST_DATA")


PHOTOS = PLATES.parent / "photos"


@unittest.skipUnless(PHOTOS.is_dir(), f"needs the photographs in {PHOTOS}: set STOKER_TEST_DATA")
class Photographs(unittest.TestCase):
    """One digest for a folder of JPEGs, however it is made. All has every photograph; .ci/nightly runs it."""

    EVERY = 5
    POLICIES = ("imagenet-train", "random_resized_crop(224),hflip(0.5),randaugment(2,9)")

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.photos = temporary.name
        for photo in sorted(PHOTOS.glob("*.JPEG"))[::self.EVERY]:
            os.symlink(photo, pathlib.Path(self.photos, photo.name))

    def digest(self, policy, *arguments):
        done = run("bench", "feed", "--data", self.photos, "--aa", policy, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["samples"], 250 // self.EVERY)
        return result["digest"]

    def test_threads_and_processes_in_any_number(self):
        for policy in self.POLICIES:
            expected = self.digest(policy, "--workers", "1")
            for isolate in ([], ["--isolate"]):
                for workers in ("1", "2", "3", "8"):
                    self.assertEqual(self.digest(policy, "--workers", workers, *isolate), expected,
                                     f"{policy}, {workers} workers {isolate}")
        self.assertNotEqual(self.digest(self.POLICIES[0]), self.digest(self.POLICIES[1]))

    def test_every_instruction_set(self):
        listed = run("bench", "feed", "--data", str(PHOTOS), "--aa", "imagenet-train", "--simd", "nonsense")
        names = re.search(r"one of ([a-z0-9_, ]+), got", listed.stderr).group(1).split(", ")
        self.assertGreaterEqual(len(names), 2)
        for policy in self.POLICIES:
            digests = {name: self.digest(policy, "--simd", name) for name in names}
            self.assertEqual(len(set(digests.values())), 1, digests)

    def test_images_need_a_size(self):
        done = run("bench", "feed", "--data", str(PHOTOS))
        self.assertEqual(done.returncode, 1)
        self.assertIn("--aa imagenet-train", done.stderr)

    def test_too_many_pixels_are_an_error_by_name(self):
        done = run("bench", "feed", "--data", str(PHOTOS), "--aa", "imagenet-train", "--max-pixels", "1000")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\.JPEG")
        self.assertIn("1000", done.stderr)


class All(Photographs):
    EVERY = 1


@needs_plates
class Split(unittest.TestCase):
    """R23 on the course project's plates: every 6th of each class goes to validation."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.out = pathlib.Path(temporary.name).resolve() / "out"

    def split(self, *arguments, data=PLATES / "train", code=0):
        done = run("split", str(data), "--out", str(self.out), *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def read(self, name):
        """The real files of a list, by class."""
        classes = {}
        for line in (self.out / name).read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                path, label = line.split("\t")
                classes.setdefault(label, []).append((self.out / path).resolve())
        return classes

    def expected(self):
        """Train and validation by class, from the files alone."""
        folders = {name: sorted(PLATES.resolve().glob(f"train/{name}/*")) for name in ("cleaned", "dirty")}
        return ({name: [f for i, f in enumerate(files) if i % 6] for name, files in folders.items()},
                {name: files[::6] for name, files in folders.items()})

    def test_every_6th_of_each_class_is_listed_for_validation(self):
        for arguments in (["--every", "6"], []):
            printed = self.split(*arguments)
            self.assertEqual((self.read("train.txt"), self.read("val.txt")), self.expected())
            for line in (r"cleaned +16 +4", r"dirty +16 +4", r"all +32 +8"):
                self.assertRegex(printed, line)

    def test_links_and_copies_are_folders_with_the_same_images(self):
        for kind, is_link in (("links", True), ("copies", False)):
            self.split("--as", kind)
            for side, classes in zip(("train", "val"), self.expected()):
                for name, files in classes.items():
                    made = sorted((self.out / side / name).iterdir())
                    self.assertEqual([f.name for f in made], [f.name for f in files])
                    for new, old in zip(made, files):
                        self.assertEqual(new.is_symlink(), is_link)
                        self.assertEqual(new.read_bytes(), old.read_bytes())
            self.assertIn("would mix", self.split("--as", kind, code=1))
            shutil.rmtree(self.out)

    def test_a_new_relative_name_is_beside_the_data(self):
        self.out.parent.mkdir(exist_ok=True)
        for kind in ("copies", "links", "list"):
            for name in (f"new-{kind}", f"deep/new/{kind}"):
                done = run("split", str(PLATES.resolve() / "train"), "--as", kind, "--out", name, cwd=self.out.parent)
                self.assertEqual(done.returncode, 0, done.stderr)
                made = self.out.parent / name
                self.assertEqual(sum(1 for path in made.rglob("*.jpg")), 0 if kind == "list" else 40)
                self.assertTrue((made / ("val.txt" if kind == "list" else "val")).exists())
        inside = run("split", "data", "--as", "copies", "--out", "data/new", cwd=self.copy_of_plates())
        self.assertIn("into the folder that it divides", inside.stderr)

    def copy_of_plates(self):
        shutil.copytree(PLATES / "train", self.out.parent / "data")
        return self.out.parent

    def test_fraction_follows_the_seed(self):
        self.split("--fraction", "0.25", "--stratified", "--seed", "3")
        first = self.read("val.txt")
        self.assertEqual({name: len(files) for name, files in first.items()}, {"cleaned": 5, "dirty": 5})
        self.split("--fraction", "0.25", "--stratified", "--seed", "3")
        self.assertEqual(self.read("val.txt"), first)
        self.split("--fraction", "0.25", "--stratified", "--seed", "4")
        self.assertNotEqual(self.read("val.txt"), first)

    def test_groups_and_duplicates_stay_together(self):
        data = self.out.parent / "data"
        shutil.copytree(PLATES / "train", data)
        shutil.copy(data / "dirty" / "0000.jpg", data / "dirty" / "0001.jpg")
        self.assertIn("1 images went with their exact duplicates", self.split(data=data))
        names = [f.name for f in self.read("val.txt")["dirty"]]
        self.assertEqual(names, ["0000.jpg", "0001.jpg", "0006.jpg", "0012.jpg", "0018.jpg"])
        self.split("--group", "/000([0-9])", "--fraction", "0.3", data=data)
        tens = [{f.name for files in self.read(side).values() for f in files if f.name < "0010"}
                for side in ("train.txt", "val.txt")]
        self.assertFalse(tens[0] & tens[1])

    def test_a_list_can_be_split_again_and_junk_is_told(self):
        data = self.out.parent / "data"
        shutil.copytree(PLATES / "train", data)
        (data / "cleaned" / "Thumbs.db").write_bytes(b"x")
        self.assertIn("ignored: cleaned/Thumbs.db, junk", self.split(data=data))
        again = self.split(data=self.out / "train.txt")
        self.assertRegex(again, r"all +26 +6")

    def test_mistakes_are_told_and_leave_nothing(self):
        self.assertIn("--fraction", self.split("--every", "6", "--fraction", "0.2", code=2))
        self.assertIn("--fraction", self.split("--stratified", code=2))
        self.assertIn("between 0 and 1", self.split("--fraction", "20", code=1))
        self.assertIn("parentheses", self.split("--group", "00", code=2))
        self.assertIn("No such file", self.split(data=self.out.parent / "missing", code=1))
        self.assertFalse(self.out.exists())
        data = self.out.parent / "data"
        shutil.copytree(PLATES / "train", data)
        inside = run("split", str(data), "--as", "copies", "--out", str(data / "cleaned" / "new"))
        self.assertIn("into the folder that it divides", inside.stderr)
        self.assertFalse((data / "cleaned" / "new").exists())
        (self.out / "val").mkdir(parents=True)
        self.assertIn("would mix", self.split("--as", "links", code=1))
        self.assertFalse((self.out / "train").exists())


@unittest.skipUnless(PHOTOS.is_dir(), f"needs the photographs in {PHOTOS}: set STOKER_TEST_DATA")
class Filter(unittest.TestCase):
    """R17 on a photograph."""

    PHOTO = PHOTOS / "n02002724_black_stork.JPEG"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "out.png")

    def filtered(self, *arguments):
        done = run("filter", str(self.PHOTO), *arguments, "--out", str(self.out), "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = self.out.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        return (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")), data

    def test_every_filter_gives_another_image_of_the_same_size(self):
        names = ("f1", "f2", "f3", "f4", "blur", "binomial5x3", "binomial5x5")
        images = [self.filtered("--sobel", name) for name in names]
        self.assertEqual(len({size for size, _ in images}), 1)
        self.assertEqual(len({data for _, data in images}), len(names))

    def test_a_filter_has_names_a_number_and_coefficients(self):
        for words in (("f1", "sobel3", "1,0,-1; 2,0,-2; 1,0,-1"), ("f3", "3", "1,2,1,2,1 x 1,0,-1")):
            self.assertEqual(len({self.filtered("--sobel", word)[1] for word in words}), 1, words)

    def test_json_says_what_was_computed_and_where(self):
        done = run("filter", str(self.PHOTO), "--sobel", "3", "--device", "cpu", "--json", "--out", str(self.out), "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["filter"], told["rows"], told["columns"], told["device"]), ("f3", 5, 3, "cpu"))
        self.assertEqual(told["weights"], [1, 0, -1, 2, 0, -2, 1, 0, -1, 2, 0, -2, 1, 0, -1])
        self.assertEqual(told["operation"], "sobel")

    def test_a_gpu_gives_the_same_image(self):
        """The simulator stands in for the GPU: same kernels, same choice between them, same interface."""
        small = self.out.with_name("small.png")
        small.write_bytes((SOURCE / "docs" / "images" / "cat.png").read_bytes())
        for arguments in (["--sobel", "f3"], ["--kernel", "1 1 1; 1 0 1; 1 1 1"]):
            images = []
            for device, env in (("cpu", {}), ("cuda", {"STOKER_GPU_LIBRARY": os.environ["STOKER_SIMULATED_GPU"]})):
                done = run("filter", str(small), *arguments, "--device", device, "--out", str(self.out), "--force", env=env)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"computed on {device}", done.stdout)
                images.append(self.out.read_bytes())
            self.assertEqual(images[0], images[1])

    def test_a_missing_gpu_is_told(self):
        nothing = {"STOKER_GPU_LIBRARY": str(self.out.with_name("libnothing.so"))}
        done = run("filter", str(self.PHOTO), "--all", "--device", "cuda", "--out", str(self.out), env=nothing)
        self.assertEqual(done.returncode, 1)
        for word in ("libnothing.so", "--device cpu"):
            self.assertIn(word, done.stderr)
        done = run("filter", str(self.PHOTO), "--sobel", "f1", "--out", str(self.out), env=nothing)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("computed on cpu (the CUDA kernels cannot be loaded", done.stdout)

    def test_all_of_them_side_by_side(self):
        (width, height), _ = self.filtered("--sobel", "f1")
        (sheet_width, sheet_height), _ = self.filtered("--all")
        self.assertGreaterEqual(sheet_width, 6 * width)
        self.assertGreater(sheet_height, height)
        self.assertLess(sheet_height, 2 * height)

    def test_the_instruction_set_changes_nothing(self):
        _, expected = self.filtered("--sobel", "f4")
        for simd in ("reference", "avx2"):
            done = run("filter", str(self.PHOTO), "--sobel", "f4", "--out", str(self.out), "--force", env={"STOKER_SIMD": simd})
            if done.returncode == 0:
                self.assertEqual(self.out.read_bytes(), expected, simd)

    def test_a_kernel_in_numbers_is_the_named_one(self):
        _, named = self.filtered("--sobel", "blur")
        _, numbers = self.filtered("--kernel", "1 1 1; 1 0 1; 1 1 1")
        self.assertEqual(numbers, named)

    def test_mistakes_are_told(self):
        for code, words, arguments in ((1, ["sobel9", "scharr"], ["--sobel", "sobel9"]),
                                       (1, ["rows of 3 and 2"], ["--kernel", "1 2 3; 4 5; 6 7 8"]),
                                       (1, ["from 1 to 4", '"5"'], ["--sobel", "5"]),
                                       (1, ["odd number", "4 numbers in the row"], ["--sobel", "1,2,1 x 1,0,0,-1"]),
                                       (1, ["numbers", '"two"'], ["--sobel", "1,two,1 x 1,0,-1"]),
                                       (1, ["at most 99", "101"], ["--sobel", "1" + ",1" * 100 + " x 1,0,-1"]),
                                       (1, ["1000000", '"1e9"'], ["--sobel", "1 0 1e9"]),
                                       (2, ["--device"], ["--all", "--device", "gpu"]),
                                       (2, ["one of"], []), (2, ["one of"], ["--all", "--sobel", "sobel3"])):
            done = run("filter", str(self.PHOTO), *arguments, "--out", str(self.out), "--force")
            self.assertEqual(done.returncode, code, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertFalse(self.out.exists())
        missing = str(self.out.parent / "missing.jpg")
        done = run("filter", missing, "--all", "--out", str(self.out), "--force")
        self.assertEqual(done.returncode, 1)
        self.assertIn(missing, done.stderr)


class BenchKernels(unittest.TestCase):
    SMALL = ["bench", "kernels", "--sizes", "64", "--kernels", "3,5", "--threads", "1,2", "--seconds", "0", "--matrix", "50"]

    def test_prints_a_table_and_writes_figures_and_a_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(*self.SMALL, "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            figures = json.loads(pathlib.Path(folder, "kernels.json").read_text())["figures"]
            self.assertEqual({figure["threads"] for figure in figures}, {1, 2})
            for name in ("correlation f32", "correlation u8", "sobel f32", "maximum i32", "gram f32"):
                self.assertIn(name, done.stdout)
                self.assertTrue(all(figure["ms"] > 0 for figure in figures if figure["kernel"] == name), name)
            self.assertEqual(pathlib.Path(folder, "kernels.png").read_bytes()[:4], b"\x89PNG")

    def test_json_is_one_object_with_every_way(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(*self.SMALL, "--json", "--device", "cpu", cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])  # no file without --out
        told = json.loads(done.stdout)
        self.assertEqual(told["cuda"], {"available": False, "reason": "as asked"})
        figures = told["figures"]
        for kernel in ("correlation f32", "sobel f32", "maximum i32", "gram f32"):  # each with its trivial loop
            methods = {figure["method"] for figure in figures if figure["kernel"] == kernel}
            self.assertIn("reference", methods, kernel)
            self.assertGreater(len(methods), 1, kernel)
        self.assertEqual({figure["filter"] for figure in figures if figure["kernel"] == "sobel u8"}, {"f1", "f2", "f3", "f4"})

    def test_a_gpu_is_measured_beside_the_cpu(self):
        simulated = {"STOKER_GPU_LIBRARY": os.environ["STOKER_SIMULATED_GPU"]}
        for device, devices in (("auto", {"cpu", "cuda"}), ("cuda", {"cuda"})):
            done = run(*self.SMALL, "--json", "--device", device, env=simulated)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(done.stdout)
            self.assertEqual(told["cuda"], {"available": True, "reason": "simulated GPU"})
            self.assertEqual({figure["device"] for figure in told["figures"]}, devices)
            on_gpu = [figure for figure in told["figures"] if figure["device"] == "cuda"]
            self.assertEqual({figure["kernel"] for figure in on_gpu},
                             {"correlation f32", "correlation u8", "sobel f32", "sobel u8", "maximum i32", "gram f32"})
            self.assertTrue(all(figure["ms_with_copies"] > 0 for figure in on_gpu))

    def test_mistakes_are_told(self):
        done = run("bench", "kernels", "--kernels", "3,4")
        self.assertEqual(done.returncode, 2)
        self.assertIn("odd", done.stderr)
        nothing = {"STOKER_GPU_LIBRARY": "/nowhere/libnothing.so"}
        done = run(*self.SMALL, "--device", "cuda", env=nothing)
        self.assertEqual(done.returncode, 1)
        self.assertIn("libnothing.so", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            done = run(*self.SMALL, "--out", folder, env=nothing)
        self.assertIn("CUDA: not measured", done.stdout)


class Plot(unittest.TestCase):
    def test_a_lone_column_is_named_after_itself(self):
        """The legend of workers.csv's seconds says seconds."""
        with tempfile.TemporaryDirectory() as folder:
            path, images = pathlib.Path(folder, "workers.csv"), []
            path.write_text("workers,seconds\n1,8\n2,5\n4,3\n")
            for names in ([], ["--names", "seconds"], ["--names", "workers"]):
                done = run("plot", str(path), "-x", "workers", "-y", "seconds", "-o", f"{folder}/plot.png", "--force", *names)
                self.assertEqual(done.returncode, 0, done.stderr)
                images.append(pathlib.Path(folder, "plot.png").read_bytes())
            self.assertEqual(images[0], images[1])
            self.assertNotEqual(images[0], images[2])


class Documents(unittest.TestCase):
    def test_the_page_of_operations_is_what_the_program_says(self):
        page = (SOURCE / "docs" / "operations.md").read_text(encoding="utf-8")
        self.assertEqual(run("ops", "--format", "markdown").stdout, page,
                         "make it anew: stoker ops --format markdown > docs/operations.md")

    def test_the_page_of_settings_is_what_the_program_says(self):
        page = (SOURCE / "docs" / "settings.md").read_text(encoding="utf-8")
        self.assertEqual(run("settings", "--format", "markdown").stdout, page,
                         "make it anew: stoker settings --format markdown > docs/settings.md")

    def test_every_setting_is_a_flag_of_train_under_its_heading(self):
        text = run("train", "--help").stdout
        settings = json.loads(run("settings", "--format", "json").stdout)
        self.assertGreater(len(settings), 80)
        for setting in settings:
            self.assertIn(f"--{setting['name']}", text)
            self.assertIn(f"\n{setting['group']}:", text)

    def test_ops_as_json_parses(self):
        names = [operation["name"] for operation in json.loads(run("ops", "--format", "json").stdout)["operations"]]
        self.assertIn("rotate", names)


@needs_fashion
class Terminal(unittest.TestCase):
    """A person sees a bar; a pipe gets lines without control characters."""

    ARGUMENTS = ["bench", "feed", *FASHION, "--aa", "mnist", "--epochs", "1", "--workers", "1", "--simd", "reference"]

    def test_a_terminal_gets_a_bar(self):
        main, other = pty.openpty()
        process = subprocess.Popen([STOKER, *self.ARGUMENTS], stdout=subprocess.DEVNULL, stderr=other)
        os.close(other)
        seen = b""
        try:
            while chunk := os.read(main, 4096):
                seen += chunk
        except OSError:  # the other side closed
            pass
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertIn("█".encode(), seen)
        self.assertIn(b"samples/s", seen)

    def test_a_pipe_gets_plain_lines(self):
        done = run(*self.ARGUMENTS)
        self.assertNotIn("\r", done.stderr)
        self.assertNotIn("\x1b", done.stderr)
        self.assertRegex(done.stderr, r"timing: .*samples/s")


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
