"""Side p: torchdata's StatefulDataLoader with torchvision v2 and its own decoder."""

from torchdata.stateful_dataloader import StatefulDataLoader
from torchvision.io import ImageReadMode, decode_jpeg, read_file

from .photo_loader import LoaderSide
from .photo_torchvision import transform


class Stateful(LoaderSide):
    letter = "p"
    name = "StatefulDataLoader, decode_jpeg"
    antialias = "on"
    asked = 2
    loader = StatefulDataLoader

    def make_load(self):
        change = transform()
        return lambda path: change(decode_jpeg(read_file(path), mode=ImageReadMode.RGB))


SIDES = [Stateful]
