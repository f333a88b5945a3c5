"""The exception of this package."""

from __future__ import annotations


class Error(RuntimeError):
    """What went wrong, in the words of the feed or the program.

    `exit_code` is that of the program: 1 for a failure, 2 for wrong usage; None where no program ran.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
