"""Results that outlive the model they were computed from: a dictionary with a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from tiedviz.models.pool import forget_frames


class Kept:
    """Values by key, the longest unused first to go. Shared by all visitors; nothing is changed.

    A refusal may be kept as well. It is kept without the frames it came through: their variables
    would keep the model in memory that it is to outlive.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """The value, or None."""
        with self._guard:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Hashable, value: Any) -> Any:
        """Keep a value. Returns it."""
        if isinstance(value, BaseException):
            forget_frames(value)
        with self._guard:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value
