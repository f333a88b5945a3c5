"""Exceptions of what runs the program."""

from __future__ import annotations

try:
    from ._feed import Error
except ImportError:  # from the sources, without the extension

    class Error(RuntimeError):  # type: ignore[no-redef]
        """What could not be done. The message says what was expected."""


class ProgramError(Error):
    """What the program said when it failed. `exit_code` is 1 for a failure, 2 for wrong usage, negative for a signal."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
