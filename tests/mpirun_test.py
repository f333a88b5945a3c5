#!/usr/bin/env python3
"""Training under a real mpirun (Open MPI): its processes are ranks that share the machine's CPUs as it bound them, two jobs do not
meet, and a dead rank ends its job. Run by ctest; needs MNIST and openmpi-bin."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from ranks import STOKER, children, clean_environment, facts, needs_mnist, saved_step, train, weights
from runs import Case

FLAGS = ["train", "--data", "mnist", "--model", "mlp:784,32,10:relu", "--train-samples", "1502", "--batch-size", "30", "--aa", "mnist", "--seed",
         "5", "--workers", "1", "--no-report", "--timeout", "30", "--epochs", "2"]


def mpirun(count, *arguments, binding="none"):
    # As root, and with more ranks than CPUs, it wants to be told twice.
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", binding, "-n", count, STOKER, *arguments]
    # Open MPI 4 fails where two jobs make their common folder at the same moment, or one removes it while another enters it.
    folder = tempfile.TemporaryDirectory(prefix="ompi", ignore_cleanup_errors=True)
    job = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env={**clean_environment(), "OMPI_MCA_orte_tmpdir_base": folder.name})
    job.folder = folder  # kept as long as the job
    return job


@needs_mnist
@unittest.skipUnless(shutil.which("mpirun"), "needs mpirun: Debian's openmpi-bin")
class Mpirun(Case):
    def end_well(self, process):
        out, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + errors)
        return out

    def test_processes_are_ranks_and_two_jobs_do_not_meet(self):
        train(3, *FLAGS, "--threads", "1", "--output", self.output, "--experiment", "plain")
        jobs = {name: mpirun(3, *FLAGS, "--threads", "1", "--output", self.output, "--experiment", name) for name in ("one", "two")}
        for name, job in jobs.items():
            self.assertIn("3, by Open MPI", self.end_well(job))
            self.assertEqual(weights(self.output / name), weights(self.output / "plain"))
            self.assertEqual(facts(self.output / name)["samples_digest"], facts(self.output / "plain")["samples_digest"])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_cpus_are_shared_only_where_ranks_are_not_bound(self):
        cpus = len(os.sched_getaffinity(0))
        for binding, told in (("none", rf"affinity allows {cpus} CPUs, of which 50 % are this rank's"), ("core", r"affinity allows \d+ CPUs?\)")):
            folder = self.output / f"bound-to-{binding}"
            self.end_well(mpirun(2, *FLAGS, "--output", self.output, "--experiment", folder.name, binding=binding))
            self.assertRegex((folder / "rank-1.log").read_text(encoding="utf-8"), told)

    def test_a_killed_rank_ends_the_job_and_resume_goes_on(self):
        flags = [*FLAGS, "--threads", "1", "--epochs", "20", "--checkpoint-every", "25steps", "--output", self.output]
        train(2, *flags, "--experiment", "unbroken")
        folder = self.output / "killed"
        job = mpirun(2, *flags, "--experiment", folder.name)
        end = time.monotonic() + 60
        while saved_step(folder) == 0 or len(children(job.pid)) < 2:
            self.assertLess(time.monotonic(), end, "no step was saved")
            time.sleep(0.02)
        os.kill(children(job.pid)[1], signal.SIGKILL)
        out, errors = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0, out + errors)
        self.assertLess(facts(folder).get("steps", 0), facts(self.output / "unbroken")["steps"], "it was over before it was killed")
        self.end_well(mpirun(2, *flags, "--experiment", folder.name, "--resume", "auto"))
        self.assertEqual(weights(folder), weights(self.output / "unbroken"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
