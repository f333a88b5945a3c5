"""A Slurm of one machine: munged, slurmctld and slurmd from Debian's packages, with a configuration of their own in a temporary folder,
so that a Slurm of the machine itself is neither needed nor touched. Needs root."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "squeue")

CONFIG = """
ClusterName=stoker
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=20
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=usual Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=20
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""


def possible():
    """None, or why this machine cannot do it."""
    if os.geteuid() != 0:
        return "needs root"
    lacking = [name for name in NEEDED if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None]
    return f"needs Debian's slurm-wlm and munge ({', '.join(lacking)})" if lacking else None


def free_ports(count):
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Slurm:
    """Used in a with block, which leaves no daemon behind."""

    def __init__(self, cpus=4):
        self.cpus, self.daemons = cpus, []

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="stoker-slurm-")
        self.folder = pathlib.Path(self.temporary.name)
        self.folder.chmod(0o755)
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(CONFIG.format(host=host, folder=self.folder, ports=free_ports(2), cpus=self.cpus))
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), PATH=os.environ["PATH"] + ":/usr/sbin")
        try:
            self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                       f"--pid-file={self.folder}/munge.pid", f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
            self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
            self.start("slurmctld", "-D", "-i", "-c")
            self.start("slurmd", "-D", "-c", "-N", host)
            self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%t", check=False).stdout, "an idle node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        # Steps that cannot tell slurmctld of their end would stay behind.
        end = time.monotonic() + 10
        while len(self.daemons) == 3 and self.run("squeue", "-h", check=False).stdout and time.monotonic() < end:
            time.sleep(0.2)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.temporary.cleanup()

    def start(self, name, *arguments):
        with open(self.folder / f"{name}.out", "w", encoding="utf-8") as log:
            self.daemons.append(subprocess.Popen([name, *arguments], stdout=log, stderr=log, env=self.environment))

    def run(self, *command, check=True, timeout=120):
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=check, timeout=timeout,
                              env=self.environment)

    def wait_for(self, condition, what, timeout=60):
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                logs = "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-1500:]}" for path in self.folder.glob("*.out"))
                raise AssertionError(f"waited in vain for {what}\n{logs}")
            time.sleep(0.1)

    def state(self, job):
        """RUNNING, PENDING, COMPLETED, …"""
        text = self.run("scontrol", "show", "job", job, check=False).stdout
        return text.partition("JobState=")[2].split(" ")[0]
