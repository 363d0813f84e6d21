# SPDX-License-Identifier: Apache-2.0
"""Atomic output files: written completely or not at all. include/ttmlir/Target/OutputFile.h is the same in C++."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from typing import IO, cast

_MOST_LINKS = 40
_IN_MEMORY = 1 << 24  # bytes of what goes to a pipe or device, before they go to a temporary file
_numbers = itertools.count()


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a file to write. What was written takes the place of an older file when the block ends, with the older
    one's permissions; when the block raises, nothing has changed.

    Links are followed: the file they name is replaced. What is no regular file (a pipe, a device) is written where it
    is, when all is there.

    Raises:
        OSError: with the path as it was given.
    """
    path = os.fspath(path)
    with _named(path):
        target, older, in_place = _resolve(path)
    if in_place:
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as kept:
            yield cast(IO[bytes], kept)
            kept.seek(0)
            with _named(path), os.fdopen(os.open(target, os.O_WRONLY | os.O_NOCTTY | in_place), "wb") as file:
                shutil.copyfileobj(kept, file)
        return
    with _named(path):
        handle, temporary = _create(target, older)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        with _named(path):
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_whole(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Writes a file by `whole_file`."""
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Checks that `whole_file` can be opened, for those who have work to do before they write.

    Raises:
        OSError: with the path as it was given, or the folder that is not there or cannot be written to.
    """
    path = os.fspath(path)
    with _named(path):
        target, _, in_place = _resolve(path)
        if not os.path.basename(target) and not in_place:
            code = errno.EISDIR if target else errno.ENOENT
            raise OSError(code, os.strerror(code))
    checked = target if in_place else os.path.dirname(target) or os.curdir
    with _named(checked):
        if not in_place and not stat.S_ISDIR(os.stat(checked).st_mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(checked, os.W_OK if in_place else os.W_OK | os.X_OK, effective_ids=True):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Makes errors name the path that the caller gave, not a temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _resolve(path: str) -> tuple[str, os.stat_result | None, int]:
    """Returns where links lead, what exists there, and flags to open it if it is written in place."""
    target = path
    for _ in range(_MOST_LINKS):
        try:
            status = os.lstat(target)
        except FileNotFoundError:
            return target, None, 0
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISREG(status.st_mode):
            if not os.access(target, os.W_OK, effective_ids=True):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
            return target, status, 0
        if not stat.S_ISLNK(status.st_mode):
            return target, status, os.O_CLOEXEC
        folder = os.path.dirname(target)
        # A link of /proc stands for something that is open, and may have no name.
        if os.path.realpath(folder or os.curdir).startswith("/proc/"):
            return target, status, os.O_APPEND
        target = os.path.join(folder, os.readlink(target))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _create(target: str, older: os.stat_result | None) -> tuple[int, str]:
    """Creates a file next to the target, with the owner and permissions of an older one."""
    if not os.path.basename(target):
        code = errno.EISDIR if target else errno.ENOENT
        raise OSError(code, os.strerror(code))
    folder = os.path.dirname(target)
    while True:
        temporary = os.path.join(folder, f".tmp{os.getpid()}.{next(_numbers)}")
        with contextlib.suppress(FileExistsError):
            handle = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if older is not None else 0o666
            )
            break
    try:
        if older is not None:
            if (older.st_uid, older.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):  # ours to say as root only
                    os.fchown(handle, older.st_uid, older.st_gid)
            os.fchmod(handle, stat.S_IMODE(older.st_mode))
    except BaseException:
        os.close(handle)
        os.unlink(temporary)
        raise
    return handle, temporary
