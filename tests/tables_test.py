#!/usr/bin/env python3
"""Tables of images with the real program: every command that takes data, and, with a trainer, runs that are trained on
them, resumed and evaluated.

Run by ctest with the program's path as STOKER and a case as argument.
"""

import csv
import io
import json
import os
import pathlib
import subprocess
import tarfile
import unittest

import runs
from helpers import png

STOKER = os.environ["STOKER"]
SMALL = ["--aa", "resize(16,16)", "--dtype", "uint8", "-b", "8", "-j", "1"]
TRAIN = ["--model", "cnn:4,8", "--aa", "resize(16,16)", "-b", "8", "--threads", "1", "-j", "1", "--no-report"]


def run(*words, status=0):
    done = subprocess.run([STOKER, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, f"{words}: {done.returncode}, not {status}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def digest(data, *words):
    return json.loads(run("bench", "feed", "--json", "--data", data, *SMALL, *words))["digest"]


class Case(runs.Case):
    """40 images of two classes, of which 8 are for validation and 8 for tests."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.output / "data"
        cls.rows = []
        for i in range(40):
            label = ("dark", "light")[i % 2]
            base = 40 + 120 * (i % 2) + i
            part = "train" if i < 24 else "val" if i < 32 else "test"
            png(cls.data / "images" / f"{i:02}.png", 24 + i % 5, 24, lambda x, y, b=base, i=i: (b + x * (i % 7) + y) % 256)
            tags = ";".join(["even" if i % 2 == 0 else "odd"] + ["third"] * (i % 3 == 0))
            cls.rows.append([f"images/{i:02}.png", label, tags, base / 10, part, f'note "{i}", long'])
        cls.table = cls.write("table.csv", cls.rows)

    @classmethod
    def write(cls, name, rows, header=("path", "label", "tags", "value", "split", "note"), **options):
        with open(cls.data / name, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, **options)
            writer.writerow(header)
            writer.writerows(rows)
        return cls.data / name

    def read(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


class Feed(Case):
    def test_a_table_gives_the_samples_of_a_list(self):
        lines = [f"{row[0]}\t{row[1]}\n" for row in self.rows if row[4] == "train"]
        (self.data / "list.txt").write_text("".join(lines), encoding="utf-8")
        expected = digest(self.data / "list.txt")
        self.assertEqual(digest(self.table), expected)
        tabs = self.write("tabs.tsv", self.rows, delimiter="\t")
        self.assertEqual(digest(tabs), expected)
        bare = self.write("bare.csv", [row[:2] for row in self.rows[:24]], header=("path", "label"))
        self.assertEqual(digest(bare), expected)
        bom = self.data / "bom.csv"
        bom.write_bytes(b"\xef\xbb\xbf" + self.table.read_bytes())
        self.assertEqual(digest(bom), expected)
        self.assertEqual(digest(f"{self.table}[0:24]"), expected)
        self.assertNotEqual(digest(self.table, "--split", "val"), expected)
        self.assertEqual(digest(self.table, "--label", "tags"), digest(self.table, "--label", "tags", "--isolate"))

    def test_what_is_wrong_is_named_with_line_and_column(self):
        broken = self.write("broken.csv", [*self.rows[:3], ["images/09.png", "", "", 1, "train", ""]])
        self.assertIn("line 5, column 2 (label)", run("bench", "feed", broken, *SMALL, status=1))
        missing = self.write("missing.csv", [*self.rows[:3], ["images/none.png", "dark", "", 1, "train", ""]])
        message = run("bench", "feed", missing, *SMALL, status=1)
        self.assertIn("images/none.png", message)
        self.assertIn(f"Line 5 of {missing}", message)
        message = run("bench", "feed", self.table, "--label", "labels", *SMALL, status=1)
        self.assertIn("Did you mean label?", message)
        self.assertIn("--label", message)
        run("bench", "feed", self.table, "--label", "tags", "--target", "value", *SMALL, status=2)
        (self.data / "t.parquet").write_bytes(b"PAR1")
        self.assertIn("pandas.read_parquet", run("bench", "feed", self.data / "t.parquet", *SMALL, status=1))

    def test_preview_shows_every_kind_of_label(self):
        for words in ([], ["--labels", "tags"], ["--target", "value"], ["--split", "test"]):
            out = self.output / f"preview{''.join(words)}.png"
            self.assertIn("samples", run("preview", self.table, *words, "-n", "3", "-o", out))
            self.assertTrue(out.read_bytes().startswith(b"\x89PNG"))

    def test_split_keeps_all_columns(self):
        undivided = self.write("whole.csv", [row[:4] + row[5:] for row in self.rows],
                               header=("path", "label", "tags", "value", "note"))
        out = self.output / "split"
        run("split", undivided, "--out", out, "--fraction", "0.25", "--stratified", "--seed", "3")
        rows = self.read(out / "whole.csv")
        self.assertEqual(list(rows[0]), ["path", "label", "tags", "value", "note", "split"])
        self.assertEqual([row["note"] for row in rows], [row[5] for row in self.rows])
        parts = [(row["label"], row["split"]) for row in rows]
        self.assertEqual(parts.count(("dark", "val")), 5)
        self.assertEqual(parts.count(("light", "val")), 5)
        for row in rows:
            self.assertTrue((out / row["path"]).is_file())
        run("bench", "feed", out / "whole.csv", "--split", "val", *SMALL)
        self.assertIn("split already", run("split", out / "whole.csv", "--out", self.output / "x", status=1))
        run("split", undivided, "--labels", "tags", "--as", "list", "--out", self.output / "x", status=1)
        run("split", undivided, "--out", self.data, status=1)
        run("split", undivided, "--as", "list", "--out", self.output / "lists")
        self.assertTrue((self.output / "lists" / "train.txt").is_file())

    def test_doctor_names_lines(self):
        rows = [*self.rows, ["images/none.png", "dark", "even", 1, "train", ""],
                [self.rows[39][0], "dark", "odd", 2, "train", ""]]
        table = self.write("sick.csv", rows)
        out, clean = self.output / "doctor", self.output / "clean.csv"
        text = run("doctor", table, "--out", out, "--write-list", clean, "--near", "-1", "--min-side", "0",
                   "--fail-on", "never")
        self.assertIn("images/none.png (line 42)", text)
        found = json.loads((out / "doctor.json").read_text(encoding="utf-8"))
        by_kind = {finding["kind"]: finding for finding in found["findings"]}
        self.assertEqual(by_kind["unreadable"]["lines"], [42])
        self.assertEqual(sorted(by_kind["two_labels"]["lines"]), [41, 43])
        self.assertEqual(sorted(by_kind["leak"]["lines"]), [41, 43])
        rows = self.read(clean)
        self.assertEqual(len(rows), 24)
        self.assertEqual(rows[0]["note"], self.rows[0][5])
        message = run("doctor", table, "--labels", "tags", "--out", self.output / "second", "--write-list",
                      self.output / "c.txt", "--near", "-1", "--fail-on", "never", status=1)
        self.assertIn(".csv", message)


class Shards(Case):
    def test_shards_of_a_table_hold_its_labels_as_json(self):
        for name, words in (("tags", ["--labels", "tags"]), ("value", ["--target", "value"])):
            out = self.output / name
            run("shard", self.table, *words, "--out", out)
            self.assertEqual(sorted(path.name for path in out.iterdir()), ["test", "train", "val"])
            found = []
            for tar in sorted((out / "train").glob("*.tar")):
                with tarfile.open(tar) as archive:
                    found += [json.load(archive.extractfile(member)) for member in archive
                              if member.name.endswith(".json")]
            train = [row for row in self.rows if row[4] == "train"]
            if name == "tags":
                expected = [{"labels": sorted(row[2].split(";"))} for row in train]
            else:
                expected = [{"value": row[3]} for row in train]
            self.assertCountEqual(map(str, found), map(str, expected))
            self.assertEqual(digest(out), digest(out, "--isolate"))
            self.assertEqual(digest(out), digest(out, *words))
        self.assertIn("several classes", run("bench", "feed", self.output / "tags", "--target", "value", *SMALL,
                                             status=1))

    def test_json_of_others_is_read_by_key(self):
        tar = self.output / "others" / "a.tar"
        tar.parent.mkdir(exist_ok=True)
        with tarfile.open(tar, "w") as archive:
            for i, row in enumerate(self.rows[:6]):
                archive.add(self.data / row[0], f"{i}.png")
                text = json.dumps({"tags": row[2].split(";"), "value": row[3], "species": row[1]}).encode()
                info = tarfile.TarInfo(f"{i}.json")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text))
        cache = ["--cache-dir", self.output / "cache"]
        for words in (["--labels", "tags"], ["--target", "value"], ["--label", "species"]):
            run("bench", "feed", tar, *words, *SMALL, *cache)
        message = run("bench", "feed", tar, "--target", "tags", *SMALL, *cache, status=1)
        self.assertIn("a.tar#0.json", message)


class Runs(Case):
    def train(self, name, *words, data=None):
        return run("train", "--data", data or self.table, *TRAIN, "--output", self.output, "--experiment", name, *words)

    def test_a_run_remembers_its_columns(self):
        table = self.write("named.csv", self.rows, header=("where", "kind", "label", "value", "part", "note"))
        self.train("named", "--label", "kind", "--path-column", "where", "--split-column", "part", "--epochs", "2",
                   data=table)
        folder = self.output / "named"
        result = json.loads(run("eval", table, "--weights", folder, "--json"))
        self.assertEqual(result["samples"], 8)
        rows = list(csv.reader(io.StringIO(run("predict", table, "--weights", folder))))
        self.assertEqual(len(rows), 9)
        unlabelled = self.write("unlabelled.csv", [[row[0]] for row in self.rows[:5]], header=("where",))
        rows = list(csv.reader(io.StringIO(run("predict", unlabelled, "--weights", folder, "--split-column", "none"))))
        self.assertEqual(len(rows), 6)
        one = self.write("one.csv", [[row[0], row[1]] for row in self.rows[:6:2]], header=("where", "kind"))
        result = json.loads(run("eval", one, "--weights", folder, "--json", "--split-column", "none"))
        self.assertEqual(result["samples"], 3)
        preview = self.output / "run.png"
        run("preview", folder, "-n", "2", "-o", preview)
        other = run("train", "--resume", folder, "--label", "value", status=1)
        self.assertIn("label", other)

    def test_a_run_on_a_table_is_that_on_its_list(self):
        lines = "".join(f"{row[0]}\t{row[1]}\n" for row in self.rows)
        (self.data / "all.txt").write_text(lines, encoding="utf-8")
        self.train("list", "--epochs", "2", "--val-fraction", "0.2", data=self.data / "all.txt")
        self.train("table", "--epochs", "2", "--val-fraction", "0.2", "--split-column", "none")
        results = [(self.output / name / "results.csv").read_text(encoding="utf-8").splitlines() for name in
                   ("list", "table")]

        def losses(lines):
            return [{key: value for key, value in row.items() if "loss" in key} for row in csv.DictReader(lines)]

        self.assertEqual(losses(results[0]), losses(results[1]))

    def test_a_resumed_run_sees_changed_labels(self):
        table = self.write("changing.csv", self.rows)
        self.train("changing", "--epochs", "1", "--sched", "constant", data=table)
        rows = [list(row) for row in self.rows]
        rows[3][5] = "another note"
        self.write("changing.csv", rows)
        run("train", "--resume", self.output / "changing", "--epochs", "2")
        rows[3][1] = "dark"
        self.write("changing.csv", rows)
        message = run("train", "--resume", self.output / "changing", "--epochs", "3", status=1)
        self.assertIn("images/03.png is of class 'dark' here", message)


if __name__ == "__main__":
    unittest.main()
