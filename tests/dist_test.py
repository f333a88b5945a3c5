#!/usr/bin/env python3
"""Trains with several ranks, as real processes that talk over sockets: the same samples and weights for any number of
them, faults that are noticed and named, runs that go on with another number.

Run by ctest with the program's path as STOKER; needs MNIST in $STOKER_TEST_DATA (default ../shared/data). The class All
has more numbers of ranks and more steps than SameRun, the class Many 64 ranks; nightly runs both.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import hosts
from ranks import Ranks, SOURCE, STOKER, children, distance, facts, free_port, needs_mnist, saved_step, table, train, weights
from runs import Case

# 200 steps of 30 samples, which 4 ranks do not share evenly; the last batch of an epoch has 2, so ranks 2 and 3 have none.
STEPS = ["train", "--data", "mnist", "--train-samples", "2972", "--batch-size", "30", "--aa", "mnist", "--seed", "5", "--epochs", "2",
         "--threads", "1", "--workers", "1", "--no-report", "--timeout", "60", "--lr", "0.05"]
MLP = [*STEPS, "--model", "mlp:784,32,10:relu", "--grad-accum-steps", "1"]
CNN = [*STEPS, "--model", "cnn:4,8", "--opt", "adamw", "--lr", "0.001"]


def figures(folder):
    """What a validation found."""
    return [{key: row[key] for key in ("step", "val_top1", "val_top5", "val_macro_f1")} for row in table(folder)]


@needs_mnist
class SameRun(Case):
    """Any number of ranks makes the same run."""

    RANKS, SYNCED_RANKS = (3, 4), (4,)
    EPOCHS = 1  # of 100 steps
    OWN_SAMPLES = 932  # the last batch has 2 here too

    def run_with(self, count, flags, name):
        train(count, *flags, "--output", self.output, "--experiment", name)
        return self.output / name

    def test_the_same_samples_and_weights_for_any_number_of_ranks(self):
        alone = self.run_with(1, MLP, "mlp-1")
        self.assertGreaterEqual(facts(alone)["steps"], 200)
        for count in self.RANKS:
            together = self.run_with(count, MLP, f"mlp-{count}")
            self.assertEqual(facts(together)["samples_digest"], facts(alone)["samples_digest"])
            self.assertEqual(figures(together), figures(alone))
            self.assertEqual(facts(together)["test"]["samples"], 10000)
            self.assertAlmostEqual(facts(together)["test"]["top1"], facts(alone)["test"]["top1"], delta=0.001)
            gap = distance(together, alone)
            print(f"mlp, {count} ranks, {facts(alone)['steps']} steps: weights differ by {gap:.1e}")
            self.assertLess(gap, 1e-5)
            for rank in range(1, count):
                self.assertIn("done at step", (together / f"rank-{rank}.log").read_text(encoding="utf-8"))
            self.assertEqual(int(table(together, "ranks.csv")[-1]["ranks"]), count)
        self.exact_evaluation(together)
        again = self.run_with(3, MLP, "mlp-3-again")
        self.assertEqual(weights(again), weights(self.output / "mlp-3"), "3 ranks twice are not the same bits")

    def exact_evaluation(self, folder):
        """What 4 ranks found together is what one process finds with the same weights."""
        done = subprocess.run([STOKER, "eval", "--data", "mnist", "--split", "val", "--weights",
                               folder / "weights/last.safetensors", "--json"],
                              capture_output=True, text=True, check=True, timeout=120)
        alone = __import__("json").loads(done.stdout)
        together = table(folder)[-1]
        self.assertEqual(alone["samples"], 6000)
        self.assertEqual(f"{alone['top1']:.6f}", together["val_top1"])
        self.assertEqual(f"{alone['loss']:.6f}", together["val_loss"])

    def test_a_network_of_autograd_with_shared_statistics(self):
        """The Reducer's buckets, batch norms over all ranks, a short last batch without a sample on some ranks."""
        flags = [*CNN, "--sync-bn", "--epochs", self.EPOCHS]
        alone = self.run_with(1, flags, "cnn-1")
        self.assertGreaterEqual(facts(alone)["steps"], 100 * self.EPOCHS)
        for count in self.SYNCED_RANKS:
            together = self.run_with(count, flags, f"cnn-{count}")
            self.assertEqual(facts(together)["samples_digest"], facts(alone)["samples_digest"])
            gap = distance(together, alone)
            print(f"cnn with --sync-bn, {count} ranks, {facts(alone)['steps']} steps: weights differ by {gap:.1e}")
            self.assertLess(gap, 1e-5)

    def test_each_rank_with_statistics_of_its_own(self):
        """Without --sync-bn results depend on the split, but not on the time, and ways to sum agree."""
        flags = [*CNN, "--epochs", "1", "--train-samples", self.OWN_SAMPLES]
        first = self.run_with(3, flags, "own-1")
        self.assertEqual(weights(self.run_with(3, flags, "own-2")), weights(first))
        after = self.run_with(3, [*flags, "--reduce", "after"], "own-after")
        self.assertLess(distance(after, first), 1e-5)
        rounded = self.run_with(3, [*flags, "--grad-compression", "bfloat16"], "own-bfloat16")
        self.assertLess(distance(rounded, first), 0.2)
        sent = [int(table(folder, "ranks.csv")[-1]["reduced_bytes"]) for folder in (first, rounded)]
        self.assertEqual(sent[0], 2 * sent[1])

    def test_accumulated_gradients(self):
        flags = [*MLP, "--epochs", "1", "--grad-accum-steps", "4"]
        alone = self.run_with(1, flags, "accumulated-1")
        together = self.run_with(3, flags, "accumulated-3")
        self.assertLess(distance(together, alone), 1e-5)
        self.assertEqual(facts(together)["samples_digest"], facts(alone)["samples_digest"])


class All(SameRun):
    RANKS = SYNCED_RANKS = (2, 3, 4)
    EPOCHS = 2
    OWN_SAMPLES = 2972


@needs_mnist
class Many(Case):
    """Far more ranks than CPUs: each waits for 63 others that take turns."""

    RANKS = 64

    def test_the_same_samples_and_nobody_is_given_up(self):
        flags = [*MLP, "--batch-size", "130", "--timeout", "20"]
        train(1, *flags, "--output", self.output, "--experiment", "alone")
        begin = time.monotonic()
        train(self.RANKS, *flags, "--output", self.output, "--experiment", "many", timeout=900)
        seconds, alone, many = time.monotonic() - begin, self.output / "alone", self.output / "many"
        self.assertEqual(facts(many)["samples_digest"], facts(alone)["samples_digest"])
        self.assertEqual({row["ranks"] for row in table(many, "ranks.csv")}, {str(self.RANKS)})
        gap = distance(many, alone)
        print(f"{self.RANKS} ranks on {os.cpu_count()} CPUs: {facts(many)['steps']} steps in {seconds:.0f} s with the start; "
              f"weights differ by {gap:.1e}")
        self.assertLess(gap, 1e-5)


# Goes on until something happens to it, and saves often.
LONG = [*MLP, "--epochs", "400", "--checkpoint-every", "25steps", "--timeout", "10"]
TIMEOUT = 10


class FaultCase(Case):
    def start(self, name, count, *more, **options):
        flags = [*LONG, "--output", self.output, "--experiment", name, *more]
        return Ranks(count, flags, **options)

    def expect_named(self, ranks, culprit, begin, limit):
        """All others end with an error that names the culprit."""
        for rank in ranks:
            if rank.number == culprit:
                continue
            code = rank.wait(limit + 5)
            seconds = time.monotonic() - begin
            self.assertEqual(code, 1, ranks.report())
            self.assertRegex(rank.stderr, rf"stoker: rank {rank.number} \(.*\) lost the other ranks in: ")
            self.assertRegex(rank.stderr, rf"got rank {culprit} \([^)]*\) ")
            self.assertLess(seconds, limit, ranks.report())
            print(f"rank {rank.number} noticed after {seconds:.2f} s: {rank.stderr.strip()[:300]}")


@needs_mnist
class Faults(FaultCase):
    """A rank that dies or hangs ends the others, in time and by name."""

    def test_a_killed_rank(self):
        with self.start("killed", 3) as ranks:
            ranks.wait_until_step(self.output / "killed", 50)
            ranks[1].process.kill()
            self.expect_named(ranks, 1, time.monotonic(), TIMEOUT)
        self.assertIn("failed: rank 2", (self.output / "killed" / "rank-2.log").read_text(encoding="utf-8"))

    def test_rank_0_killed(self):
        with self.start("killed-0", 3) as ranks:
            ranks.wait_until_step(self.output / "killed-0", 50)
            ranks[0].process.kill()
            self.expect_named(ranks, 0, time.monotonic(), TIMEOUT)

    def test_a_hanging_rank(self):
        with self.start("hanging", 3) as ranks:
            ranks.wait_until_step(self.output / "hanging", 50)
            ranks[2].process.send_signal(signal.SIGSTOP)
            self.expect_named(ranks, 2, time.monotonic(), TIMEOUT + 1)

    def test_other_settings_on_one_rank(self):
        with self.start("settings", 3, extra=lambda rank: ["--lr", "0.3"] if rank == 1 else []) as ranks:
            self.assertEqual(ranks.wait(30), [1, 1, 1])
            self.assertIn('was started with other settings. Expected "lr: 0.05", as rank 0 has it, got "lr: 0.3"', ranks[1].stderr)
            self.assertIn("was started with other settings", ranks[2].stderr)

    def test_a_rank_that_never_comes(self):
        with self.start("absent", 2, "--timeout", "3", prefix=lambda rank: ["true"] if rank == 1 else []) as ranks:
            self.assertEqual(ranks[0].wait(30), 1)
            self.assertIn("nothing from rank 1", ranks[0].stderr)

    def test_sigterm_to_any_rank_saves_on_all(self):
        for who in (0, 2):
            name = f"stopped-{who}"
            with self.start(name, 3) as ranks:
                ranks.wait_until_step(self.output / name, 25)
                ranks[who].process.send_signal(signal.SIGTERM)
                self.assertEqual(ranks.wait(TIMEOUT), [3, 3, 3], ranks.report())
                said = re.search(r"stopped by (signal 15|another rank) at step (\d+)", ranks[0].stdout)
                self.assertEqual(said[1], "signal 15" if who == 0 else "another rank")
                self.assertEqual(saved_step(self.output / name), int(said[2]))


@needs_mnist
class Ends(Case):
    """Ranks decide the same about losses and images that are no good."""

    def test_all_ranks_end_after_the_same_step_when_the_loss_diverges(self):
        flags = [*MLP, "--lr", "1e6", "--opt", "momentum", "--epochs", "3"]  # 300 steps
        for count, name in ((1, "alone"), (2, "together")):
            with Ranks(count, [*flags, "--output", self.output, "--experiment", name]) as ranks:
                self.assertEqual(ranks.wait(60), [1] * count, ranks.report())
                for rank in range(count):
                    self.assertIn("training diverged at step", ranks[rank].stderr)
            self.assertEqual(facts(self.output / name)["state"], "diverged")
        self.assertIn("diverged at step", (self.output / "together" / "rank-1.log").read_text(encoding="utf-8"))

    def test_images_that_one_rank_cannot_read_are_skipped_by_all(self):
        plates = pathlib.Path(os.environ["STOKER_TEST_DATA"], "plates", "train")
        if not plates.is_dir():
            self.skipTest(f"needs {plates}")
        damaged = self.output / "damaged"
        shutil.copytree(plates, damaged)
        # Validation is dealt in batches of 32: one in each of the two.
        bad = [sorted(damaged.glob("*/*.jpg"))[place] for place in (3, 35)]
        for path in bad:
            path.write_bytes(path.read_bytes()[:2000])
        flags = ["train", "--data", plates, "--val-data", damaged, "--model", "mlp:12675,4,2", "--aa", "resize(65,65)", "--epochs",
                 "1", "-b", "8", "--threads", "1", "--workers", "1", "--no-report", "--on-error", "skip", "--timeout", "60",
                 "--output", self.output, "--experiment"]
        for count, name in ((1, "one"), (2, "two")):
            train(count, *flags, name)
            self.assertEqual(facts(self.output / name)["validated"], {"samples": 38, "skipped": 2})
            self.assertEqual({row["sample"] for row in table(self.output / name, "errors.csv")}, set(map(str, bad)))
        with Ranks(2, [*flags, "many", "--max-errors", "1"]) as ranks:
            self.assertEqual(ranks.wait(60), [1, 1], ranks.report())
            self.assertIn("at most 1 that cannot", ranks[0].stderr)


@needs_mnist
class Elastic(FaultCase):
    """A run that is broken off goes on with another number of ranks, and with the same samples."""

    def test_four_then_two_then_three_ranks(self):
        flags = ["--epochs", "10"]
        train(1, *LONG, *flags, "--output", self.output, "--experiment", "unbroken")
        folder = self.output / "elastic"
        with self.start("elastic", 4, *flags) as ranks:
            ranks.wait_until_step(folder, 100)
            ranks[3].process.kill()
            self.assertEqual(ranks.wait(2 * TIMEOUT)[:3], [1, 1, 1])
        with Ranks(2, ["train", "--resume", folder]) as ranks:
            ranks.wait_until_step(folder, 300)
            ranks[1].process.send_signal(signal.SIGTERM)
            self.assertEqual(ranks.wait(2 * TIMEOUT), [3, 3], ranks.report())
        train(3, "train", "--resume", folder)
        self.assertEqual(facts(folder)["steps"], facts(self.output / "unbroken")["steps"])
        self.assertEqual(facts(folder)["samples_digest"], facts(self.output / "unbroken")["samples_digest"])
        gap = distance(folder, self.output / "unbroken")
        print(f"4, 2 and 3 ranks, {facts(folder)['steps']} steps: weights differ by {gap:.1e} from one rank's")
        self.assertLess(gap, 1e-4)

    def test_the_same_number_of_ranks_goes_on_to_the_same_bits(self):
        flags = [*CNN, "--epochs", "1", "--checkpoint-every", "5steps", "--timeout", "10", "--output", self.output]
        train(2, *flags, "--experiment", "whole")
        with Ranks(2, [*flags, "--experiment", "broken"]) as ranks:
            ranks.wait_until_step(self.output / "broken", 20)
            ranks[0].process.kill()
            ranks.wait(2 * TIMEOUT)
        train(2, *flags, "--experiment", "broken", "--resume", "auto")
        self.assertEqual(weights(self.output / "broken"), weights(self.output / "whole"))


@needs_mnist
class Torchrun(FaultCase):
    """torchrun starts the ranks, and starts them again where one is killed."""

    def test_restarts_go_on_to_the_same_bits(self):
        flags = [*LONG, "--epochs", "8", "--output", self.output]
        train(2, *flags, "--experiment", "unbroken")
        folder = self.output / "restarted"
        torchrun = os.environ.get("STOKER_TORCHRUN", str(SOURCE / "scripts" / "torchrun"))
        command = [torchrun, "--nproc-per-node", "2", "--max-restarts", "3", "--no-python", "--master-port", str(free_port()),
                   STOKER, *map(str, flags), "--experiment", "restarted", "--resume", "auto"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                for step, victim in ((75, 1), (200, 0)):
                    self.wait_for_step(folder, step, process)
                    os.kill(children(process.pid)[victim], signal.SIGKILL)
                errors = process.communicate(timeout=120)[1]
            finally:
                process.kill()
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("is silent", errors)
        self.assertEqual(weights(folder), weights(self.output / "unbroken"))
        self.assertEqual(facts(folder)["samples_digest"], facts(self.output / "unbroken")["samples_digest"])

    def wait_for_step(self, folder, step, process):
        end = time.monotonic() + 90
        while time.monotonic() < end:
            if saved_step(folder) >= step and len(children(process.pid)) == 2:
                return
            time.sleep(0.02)
        raise AssertionError(f"step {step} was never saved")


@needs_mnist
@unittest.skipIf(hosts.possible(), hosts.possible())
class Hosts(FaultCase):
    """Machines with addresses of their own, in network namespaces."""

    def on(self, machines, name, *more):
        flags = [*LONG, "--output", self.output, "--experiment", name, *more]
        return Ranks(3, flags, prefix=machines.prefix, address=machines.address(0))

    def test_three_machines_train_and_one_is_killed_then_one_cut_off(self):
        with hosts.Hosts(3) as machines:
            with self.on(machines, "whole", "--epochs", "2") as ranks:
                self.assertEqual(ranks.wait(60), [0, 0, 0], ranks.report())
            self.assertIn(machines.address(2), (self.output / "whole" / "log.txt").read_text(encoding="utf-8"))
            with self.on(machines, "killed") as ranks:
                ranks.wait_until_step(self.output / "killed", 25)
                ranks[2].process.kill()
                self.expect_named(ranks, 2, time.monotonic(), TIMEOUT)
            with self.on(machines, "cut") as ranks:
                ranks.wait_until_step(self.output / "cut", 25)
                machines.cut(2)
                begin = time.monotonic()
                self.expect_named(ranks, 2, begin, TIMEOUT + 1)
                self.assertEqual(ranks[2].wait(5), 1)
                self.assertRegex(ranks[2].stderr, r"rank 0 \(.*\) at 10.77.0.1:\d+ does not answer")
        train(3, *LONG, "--epochs", "2", "--output", self.output, "--experiment", "here")
        self.assertEqual(weights(self.output / "whole"), weights(self.output / "here"))

    def test_one_machine_on_a_slow_wire_changes_nothing_but_the_time(self):
        few = ["--epochs", "1", "--train-samples", "90", "--timeout", "60"]
        train(3, *LONG, *few, "--output", self.output, "--experiment", "fast")
        with hosts.Hosts(3, wired=[1]) as machines:
            machines.slow(1)
            with self.on(machines, "slow", *few) as ranks:
                self.assertEqual(ranks.wait(100), [0, 0, 0], ranks.report())
        self.assertEqual(weights(self.output / "slow"), weights(self.output / "fast"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
