"""What goes wrong: one family."""

from __future__ import annotations


class Error(Exception):
    """The family of all exceptions of fatscan: a sentence, and perhaps what to do."""

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.hint = hint
        """What to do about it, where there is something."""

    def __str__(self) -> str:
        text = str(self.args[0])
        return f"{text} (hint: {self.hint})" if self.hint else text

    def __reduce__(self) -> tuple[type[Error], tuple[str, str | None]]:
        return type(self), (self.args[0], self.hint)


class ArgumentError(Error, ValueError):
    """A word that is not understood: a GPU, a driver, a rule, a pattern."""


class UnreadableError(Error, OSError):
    """Nothing of what was given can be read."""


class NotDeepEnoughError(Error):
    """A report of `depth="headers"` cannot be judged."""


class NoDeviceError(Error):
    """This machine has no GPU that can be judged for, and none was named."""


class NoEnvironmentError(Error):
    """A directory is no environment of Python."""


class Cancelled(Error):
    """The work was stopped by `cancel`."""


class InternalError(Error):
    """A defect of fatscan."""


KINDS: dict[str, type[Error]] = {
    "error": Error,
    "argument": ArgumentError,
    "unreadable": UnreadableError,
    "shallow": NotDeepEnoughError,
    "no-device": NoDeviceError,
    "no-environment": NoEnvironmentError,
    "stopped": Cancelled,
    "internal": InternalError,
}
