"""Photographs in a PyTorch DataLoader: what its sides share."""

from torch.utils.data import DataLoader, Dataset

from .photos import PhotoSide


class Photos(Dataset):
    """dataset[index] is load(file)."""

    def __init__(self, files, load):
        self.files = files
        self.load = load

    def __getitem__(self, index):
        return self.load(self.files[index])


class LoaderSide(PhotoSide):
    loader = DataLoader

    def make_load(self):
        """Called in the main process: from a path to a sample, float32 [3, 224, 224]."""
        raise NotImplementedError

    def init_worker(self, worker):
        """Called in every worker."""

    def batches(self, index_batches):
        loader = self.loader(
            Photos(self.files, self.make_load()),
            batch_sampler=index_batches,
            num_workers=self.workers,
            worker_init_fn=self.init_worker,
            multiprocessing_context="fork",
        )
        yield from loader  # its workers end with the iterator
