"""Side e: torchvision v2 in a DataLoader with torchcodec's image decoder, torchvision's successor."""

from torchcodec.decoders import decode_jpeg

from .photo_loader import LoaderSide
from .photo_torchvision import transform


class WithTorchcodec(LoaderSide):
    letter = "e"
    name = "torchvision v2, torchcodec"
    antialias = "on"
    asked = 2

    def make_load(self):
        change = transform()
        return lambda path: change(decode_jpeg(path, mode="RGB"))


SIDES = [WithTorchcodec]
