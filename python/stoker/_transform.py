"""What all transforms are; for stoker.transforms."""

from __future__ import annotations

from typing import Any

from ._policy_text import call, refuse


class Transform:
    """What all objects of this module are: operations in their order.

    >>> from stoker.transforms import RandomHorizontalFlip
    >>> RandomHorizontalFlip(0.3).to_policy()
    'hflip(0.3)'
    """

    _operations: tuple[str, ...] = ()

    def to_policy(self) -> str:
        """The text that `Feed(augment=…)` and the program's `--aa` take."""
        return ",".join(self._operations)

    def feed_arguments(self) -> dict[str, Any]:
        """Keyword arguments for a feed: `augment`, and `mean` and `std` where there is a Normalize.

        >>> from stoker.transforms import Compose, Normalize, Resize
        >>> Compose([Resize((64, 64)), Normalize([0.5], [0.25])]).feed_arguments()
        {'augment': 'resize(64,64)', 'mean': (0.5,), 'std': (0.25,)}
        """
        return {"augment": self.to_policy()}

    def __str__(self) -> str:
        return self.to_policy()

    def __repr__(self) -> str:
        return f"<stoker.transforms.{type(self).__name__} {self.to_policy()}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transform) and self.feed_arguments() == other.feed_arguments()

    def __hash__(self) -> int:
        return hash(self._operations)


class WithProbability(Transform):
    """One operation whose last number is the probability."""

    def _set(self, operation: str, *arguments: float, p: float) -> None:
        self._parts = (operation, arguments)
        self._operations = (call(type(self).__name__, operation, *arguments, p),)


def probability(owner: Transform, p: float) -> float:
    if not (isinstance(p, (int, float)) and 0 <= p <= 1):
        refuse(f"{type(owner).__name__}: p is a probability", "0 to 1", p)
    return p
