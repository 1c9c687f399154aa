"""One family of exceptions; a message names the thing, its value and the rule."""

__all__ = ["CommunicationError", "DataError", "DeviceError", "Error", "InvalidArgument"]


class Error(Exception):
    """Anything hearsay refuses to do."""


class InvalidArgument(Error, ValueError):
    """The caller broke a contract: an option, a shape, a value out of range."""


class DataError(Error, ValueError):
    """The data themselves are at fault: not finite, not symmetric, not positive semidefinite."""


class CommunicationError(Error, ConnectionError):
    """Another party could not be reached, or did not answer as agreed."""


class DeviceError(Error, RuntimeError):
    """A device that was asked for is not there, or failed."""


for _class in (Error, InvalidArgument, DataError, CommunicationError, DeviceError):
    _class.__module__ = "hearsay"
