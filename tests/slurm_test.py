#!/usr/bin/env python3
"""Training under a real Slurm: tasks of srun are ranks, and a batch job that is preempted saves, is queued again and ends as if
nothing had happened. The Slurm is the test's own (slurm.py). Run by ctest; needs MNIST, root, slurm-wlm and munge."""

import os
import re
import sys
import time
import unittest

import slurm
from ranks import STOKER, facts, needs_mnist, train, weights
from runs import Case

FLAGS = ["train", "--data", "mnist", "--model", "mlp:784,32,10:relu", "--train-samples", "1502", "--batch-size", "30", "--aa", "mnist", "--seed",
         "5", "--threads", "1", "--workers", "1", "--no-report", "--timeout", "30"]

# What docs/distributed.md shows: exit code 3 means that the run was stopped and can go on.
BATCH = """#!/bin/bash
#SBATCH --ntasks=2 --requeue --open-mode=append --output={log}
srun {command} --resume auto
code=$?
if [ "$code" -eq 3 ]; then scontrol requeue "$SLURM_JOB_ID"; sleep 60; fi
exit "$code"
"""


@needs_mnist
@unittest.skipIf(slurm.possible(), slurm.possible())
class Slurm(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm = slurm.Slurm().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.slurm.__exit__()
        super().tearDownClass()

    def test_tasks_of_srun_are_ranks(self):
        flags = [*FLAGS, "--epochs", "2", "--output", self.output]
        train(3, *flags, "--experiment", "plain")
        done = self.slurm.run("srun", "--ntasks", 3, STOKER, *flags, "--experiment", "srun", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3, by Slurm", done.stdout)
        self.assertEqual(weights(self.output / "srun"), weights(self.output / "plain"))

    def test_a_preempted_job_is_queued_again_and_ends_right(self):
        flags = [*FLAGS, "--epochs", "25", "--output", self.output]
        train(2, *flags, "--experiment", "unbroken")
        folder, log = self.output / "preempted", self.output / "batch.log"
        script = self.output / "job.sh"
        command = " ".join(map(str, [STOKER, *flags, "--experiment", "preempted", "--checkpoint-every", "1000steps"]))
        script.write_text(BATCH.format(log=log, command=command))
        job = re.search(r"\d+", self.slurm.run("sbatch", script).stdout)[0]
        self.slurm.wait_for(lambda: "epoch  3/25" in (log.read_text() if log.exists() else ""), "the third epoch")
        # All CPUs for another job, which may take them.
        self.slurm.run("srun", "--partition", "urgent", "--ntasks", 4, "true")
        text = log.read_text()
        self.assertRegex(text, r"stopped by signal 15 at step \d+")
        self.run_soon(job)
        self.slurm.wait_for(lambda: self.slurm.state(job) in ("COMPLETED", "FAILED"), "the end", timeout=100)
        text = log.read_text()
        self.assertEqual(self.slurm.state(job), "COMPLETED", text)
        self.assertRegex(text, r"resume     step-\d+")
        self.assertEqual(facts(folder)["samples_digest"], facts(self.output / "unbroken")["samples_digest"])
        self.assertEqual(weights(folder), weights(self.output / "unbroken"))

    def run_soon(self, job):
        """Slurm lets a job that was queued again wait for two minutes. A few seconds will do, but not less: a node refuses a job
        that it has ended within the same second ("already killed")."""
        self.slurm.wait_for(lambda: self.slurm.state(job) == "PENDING", "the queue")
        time.sleep(3)

        def started():
            self.slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)
            return self.slurm.state(job) in ("RUNNING", "COMPLETED", "FAILED") and "resume     " in self.log_of(job)
        self.slurm.wait_for(started, "the job to run again", timeout=100)

    def log_of(self, job):
        return (self.output / "batch.log").read_text()


if __name__ == "__main__":
    unittest.main(verbosity=2)
