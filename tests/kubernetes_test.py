#!/usr/bin/env python3
"""The manifests of examples/kubernetes agree with themselves, and `stoker train` accepts their arguments. Run by ctest; needs MNIST.
Schemas of Kubernetes are not looked at here: docs/how-to/kubernetes.md says how they were."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import yaml

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples" / "kubernetes"
STOKER = os.environ["STOKER"]


def read(name):
    return {document["kind"]: document for document in yaml.safe_load_all((EXAMPLES / name).read_text(encoding="utf-8"))}


def pod_of(job):
    return job["spec"]["template"]["spec"]


class Kubernetes(unittest.TestCase):
    def test_volumes_and_exit_codes(self):
        for name in ("job.yaml", "ranks.yaml"):
            job = read(name)["Job"]
            pod = pod_of(job)
            mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
            self.assertEqual(mounted, {volume["name"] for volume in pod["volumes"]})
            codes = {rule["onExitCodes"]["values"][0]: rule["action"] for rule in job["spec"]["podFailurePolicy"]["rules"] if "onExitCodes" in rule}
            self.assertEqual(codes, {3: "Ignore", 2: "FailJob"})
            self.assertEqual(pod["restartPolicy"], "Never")

    def test_ranks_find_rank_0(self):
        documents = read("ranks.yaml")
        job, service = documents["Job"], documents["Service"]
        name, pod = job["metadata"]["name"], pod_of(job)
        environment = {variable["name"]: variable.get("value") for variable in pod["containers"][0]["env"]}
        self.assertEqual(job["spec"]["completions"], job["spec"]["parallelism"])
        self.assertEqual(environment["WORLD_SIZE"], str(job["spec"]["completions"]))
        self.assertEqual(pod["subdomain"], service["metadata"]["name"])
        self.assertEqual(environment["MASTER_ADDR"], f"{name}-0.{pod['subdomain']}")
        self.assertEqual(environment["MASTER_PORT"], str(service["spec"]["ports"][0]["port"]))
        self.assertEqual(service["spec"]["selector"], {"batch.kubernetes.io/job-name": name})

    def test_arguments(self):
        for name in ("job.yaml", "ranks.yaml"):
            with tempfile.TemporaryDirectory() as folder:
                replaced = {"/data/flowers": "mnist", "/runs": folder}
                arguments = [replaced.get(word, word) for word in pod_of(read(name)["Job"])["containers"][0]["args"]]
                short = ["--model", "mlp:784,16,10", "--train-samples", "200", "--epochs", "1", "--no-report"]
                done = subprocess.run([STOKER, *arguments, *short], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    data = os.environ.setdefault("STOKER_TEST_DATA", str(EXAMPLES.parent.parent.parent / "shared" / "data"))
    if not pathlib.Path(data, "mnist").is_dir():
        print(f"skipped: needs MNIST in {data}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
