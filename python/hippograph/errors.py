"""Every exception hippograph raises on purpose. Catch `HippographError` for all of them.

HippographError
  InputError            a value the caller passed is wrong (also a ValueError)
  ConfigurationError    settings, names of methods or back ends, missing extras
    MissingExtraError   an optional dependency is not installed; names the extra
  StoreError            the memory on disk
    NotAMemoryError     the directory is not a memory
    FormatError         written by a newer hippograph, or damaged
    LockedError         another process is writing
    ReadOnlyError       opened for reading, or the disk does not allow writing
    EncoderMismatchError  the memory's vectors came from another encoder
  ProviderError         a model server
    AuthenticationError   it refused the key
    BudgetExceededError   the caller's token or money limit was reached
"""


class HippographError(Exception):
    """Base class of all errors raised by hippograph."""


class InputError(HippographError, ValueError):
    """A value passed by the caller is wrong; the message names the value and the fix."""


class ConfigurationError(HippographError):
    """A setting, or the name of a method, encoder or extractor, is not usable."""


class MissingExtraError(ConfigurationError, ImportError):
    """An optional dependency is missing; the message names the extra to install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'hippograph[{extra}]'")
        self.extra = extra


class StoreError(HippographError):
    """The memory directory could not be read or written."""


class NotAMemoryError(StoreError):
    """The directory does not hold a memory."""


class FormatError(StoreError):
    """A file of the memory is damaged, or was written by a newer hippograph."""


class LockedError(StoreError):
    """Another process is writing to this memory."""


class ReadOnlyError(StoreError):
    """The memory was opened for reading, or its disk cannot be written."""


class EncoderMismatchError(StoreError):
    """The memory's vectors were made by another encoder than the one given."""


class ProviderError(HippographError):
    """A model server failed in a way that retrying does not mend. Never contains a key."""


class AuthenticationError(ProviderError):
    """The model server refused the key."""


class BudgetExceededError(ProviderError):
    """The token or money limit of this run was reached; what was paid for is stored."""
