"""Side p: torchvision v2 on single 28x28 images in torchdata's StatefulDataLoader."""

from torchdata.stateful_dataloader import StatefulDataLoader

from .torchvision_loader import TorchvisionLoader


class Stateful(TorchvisionLoader):
    letter = "p"
    name = "StatefulDataLoader, torchvision v2"
    loader = StatefulDataLoader


SIDES = [Stateful]
