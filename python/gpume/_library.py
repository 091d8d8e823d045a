# SPDX-License-Identifier: BSD-2-Clause
"""Finds libgpume, loads it on first use, and turns its statuses and log lines into exceptions."""
from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import functools
import logging
import os
import threading
import time
import weakref
from typing import Callable, TypeVar

from . import _abi
from ._params import Param, line_of, param_of
from .errors import error_of

Result = TypeVar("Result")
_logger = logging.getLogger("gpume")
_levels = {
    _abi.LOG_ERROR: logging.WARNING,
    _abi.LOG_WARNING: logging.WARNING,
    _abi.LOG_INFO: logging.INFO,
    _abi.LOG_DEBUG: logging.DEBUG,
}


def _load() -> ctypes.CDLL:
    named = os.environ.get("GPUME_LIBRARY")
    inside = os.path.join(os.path.dirname(__file__), "libgpume.so")  # of a wheel
    # Never another soname than that whose layouts _abi.py has.
    found = named or (os.path.exists(inside) and inside) or "libgpume.so.1"
    try:
        return ctypes.CDLL(found)
    except OSError as error:
        advice = (
            "correct the environment variable GPUME_LIBRARY" if named else
            "install it, or set the environment variable GPUME_LIBRARY to the path of libgpume.so")
        raise ImportError(f"libgpume cannot be loaded: {error}; {advice}") from None


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library. Raises ImportError if it is not found, or of an older API version."""
    loaded = _load()
    try:
        version = ctypes.CFUNCTYPE(ctypes.c_uint32)(("gpume_api_version", loaded))()
        if version < _abi.API_VERSION:
            raise ImportError(
                f"{loaded._name} has API version {version}, and this package needs "
                f"{_abi.API_VERSION} or later; install libgpume and the package of one version of gpume")
        _abi.declare(loaded)
    except AttributeError as error:
        raise ImportError(f"{loaded._name} is not the libgpume of this package: {error}") from None
    return loaded


@functools.lru_cache(maxsize=None)
def table() -> dict[str, Param]:
    """The table of parameters, by the names of members of ``struct gpume_params``."""
    params: dict[str, Param] = {}
    while row := library().gpume_param_at(len(params)):
        param = param_of(row.contents)
        params[param.name] = param
    return params


class Log:
    """Receives the log lines of one context, from any thread.

    Errors are kept for the exception that the failing call raises; everything else goes to
    ``logging.getLogger("gpume")``.
    """

    def __init__(self) -> None:
        errors: list[str] = []
        self._errors = errors

        def receive(_opaque, level, line):
            message = library().gpume_log_message()
            text = line_of(message.contents) if message else line.decode(errors="replace")
            if level == _abi.LOG_ERROR:
                errors.append(text)
            else:
                _logger.log(_levels.get(level, logging.DEBUG), text)

        self.callback = _abi.LogFn(receive)

    def check(self, status: int) -> int:
        """Raises the exception of a status that is a failure; returns any other status."""
        if status in (_abi.OK, _abi.AGAIN, _abi.EOF):
            return status
        lines, self._errors[:] = "; ".join(self._errors), []
        raise error_of(status, lines or library().gpume_status_text(status).decode())

    def warn(self) -> None:
        """Logs errors that did not make a call fail, such as those of a GPU that was not taken."""
        for line in self._errors:
            _logger.log(_levels[_abi.LOG_ERROR], line)
        self._errors.clear()


class Handle:
    """Owns a handle of the library; closes it when asked to, collected, or at the end.

    Any thread may close or cancel it: closing waits until the calls of other threads have ended. A
    child of the process that opened it, by fork(), has none of the threads that the library would
    wait for: there nothing is called any more, and closing does nothing.
    """

    def __init__(self, open_name: str, close_name: str, params: ctypes.Structure, log: Log,
                 cancel_name: str | None = None):
        self.log = log
        self._keep = params  # strings and callbacks that the library may use until it is closed
        self._owner = os.getpid()
        # The thread of each call under way, by its own key. Not a lock, which a signal's
        # handler could wait for in vain: only operations that nothing can interrupt.
        self._calls: dict[object, int] = {}
        pointer = ctypes.c_void_p()
        log.check(getattr(library(), open_name)(ctypes.byref(pointer), ctypes.byref(params)))
        self._finalizer = weakref.finalize(
            self, _close, close_name, cancel_name, pointer, self._calls, self._owner, params, log)
        self._pointer = pointer
        log.warn()

    def run(self, function: Callable[[ctypes.c_void_p], Result]) -> Result:
        """Calls a function with the pointer, which stays valid until it returns."""
        if os.getpid() != self._owner:
            raise ValueError("the context belongs to the process that opened it, of which this one"
                             " is a child; open another one here")
        call = object()
        try:
            self._calls[call] = threading.get_ident()
            if not self._finalizer.alive:  # looked at after the call was entered, as _close does
                raise ValueError("the context is closed")
            return function(self._pointer)
        finally:
            self._calls.pop(call, None)

    def call(self, name: str, *arguments: object) -> int:
        """Calls a function of the library, whose first argument is the pointer."""
        return self.run(lambda pointer: getattr(library(), name)(pointer, *arguments))

    def wait_for(self, function: Callable[[ctypes.c_void_p], int],
                 cancel: Callable[[], None]) -> int:
        """Calls a function that may wait for long. In the main thread, which must be able to take
        signals such as that of Ctrl-C meanwhile, another thread makes the call; what a signal
        raises cancels it."""
        if threading.current_thread() is not threading.main_thread():
            return self.run(function)
        call = None
        try:
            try:
                call = _waiting().submit(self.run, function)
            except RuntimeError:  # the interpreter is ending, and starts no threads
                return self.run(function)
            return call.result()
        except BaseException:
            cancel()
            while call and not call.done():  # nothing else may use the handle before, nor close it
                with contextlib.suppress(BaseException):  # such as the same signal again
                    concurrent.futures.wait([call])
            raise

    def _check_free(self) -> None:
        """A signal's handler may have interrupted a call of its own thread."""
        if threading.get_ident() in list(self._calls.values()) and os.getpid() == self._owner:
            raise RuntimeError(
                "the context is closed within a call on it, such as by a signal's handler; cancel "
                "it there, and close it later")

    def close(self) -> None:
        """Closes the handle, once. Raises the first failure of its run."""
        self._check_free()
        status = self._finalizer()
        if status is not None:
            self.log.check(status)

    def stop(self) -> None:
        """Closes the handle, whatever its run has to say."""
        self._check_free()
        self._finalizer()


@functools.lru_cache(maxsize=None)
def _waiting() -> concurrent.futures.Executor:
    """One thread: the main thread alone uses it, for one call at a time."""
    return concurrent.futures.ThreadPoolExecutor(1, "gpume")


os.register_at_fork(after_in_child=_waiting.cache_clear)  # the thread stays with the parent


def _close(name: str, cancel: str | None, pointer: ctypes.c_void_p, calls: dict[object, int],
           owner: int, _params: ctypes.Structure, _log: Log) -> int:
    if os.getpid() != owner:
        return _abi.OK
    here = threading.get_ident()
    if cancel and any(thread != here for thread in list(calls.values())):
        getattr(library(), cancel)(pointer)
    while any(thread != here for thread in list(calls.values())):
        time.sleep(0.001)
    return getattr(library(), name)(ctypes.byref(pointer))


def version() -> str:
    """The version of the installed libgpume, such as "1.0.0"."""
    return library().gpume_version().decode()
