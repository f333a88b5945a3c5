"""The rank of this process: torch.distributed's, or that of the program that started it."""

from __future__ import annotations

import os
import sys

# rank, number of ranks
_VARIABLES = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"))


def resolve(rank: int | str, ranks: int) -> tuple[int, int]:
    if rank != "auto":
        if isinstance(rank, str):
            raise ValueError(f"cannot use the rank {rank!r}: expected a number or \"auto\"")
        return rank, ranks
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    for rank_name, ranks_name in _VARIABLES:
        if rank_name in os.environ and ranks_name in os.environ:
            return int(os.environ[rank_name]), int(os.environ[ranks_name])
    return 0, 1
