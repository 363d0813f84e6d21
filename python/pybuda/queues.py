# SPDX-License-Identifier: Apache-2.0
"""Queues of inputs and results: who waits is woken by a failure or a shutdown."""

from __future__ import annotations

import queue
import threading
from collections import deque
from typing import Any

from .errors import PyBudaError


class Stopped(Exception):
    """The pipeline is shut down while somebody waits for inputs."""


class InputQueue:
    """Tuples of tensors for a device."""

    def __init__(self, capacity: int = 0) -> None:
        self._items: deque[Any] = deque()
        self._changed = threading.Condition()
        self._stopped = False

    def put(self, item: Any) -> None:
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()

    def get(self, wait: bool = True) -> Any:
        """The oldest item.

        Raises:
            Stopped: there is none, and no more will come (or `wait` is False).
        """
        with self._changed:
            while not self._items:
                if self._stopped or not wait:
                    raise Stopped
                self._changed.wait()
            return self._items.popleft()

    def peek(self) -> Any | None:
        with self._changed:
            return self._items[0] if self._items else None

    def __len__(self) -> int:
        return len(self._items)

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def restart(self) -> None:
        with self._changed:
            self._stopped = False

    def clear(self) -> None:
        with self._changed:
            self._items.clear()


class ResultQueue(queue.Queue):
    """A queue of results. When the run has failed, `get` gives what there is and then raises the failure."""

    def __init__(self) -> None:
        super().__init__()
        self._failure: BaseException | None = None

    def fail(self, failure: BaseException) -> None:
        with self.mutex:
            self._failure = failure
            self.not_empty.notify_all()

    def _qsize(self) -> int:
        return len(self.queue) or (1 if self._failure is not None else 0)

    def _get(self) -> Any:
        if not self.queue and self._failure is not None:
            raise PyBudaError(f"the run has failed: {self._failure}") from self._failure
        return super()._get()
