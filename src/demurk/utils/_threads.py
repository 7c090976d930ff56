"""One limit for the threads of matrix products, however many fits ask for one."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads", "thread_pools"]


@cache
def thread_pools() -> ThreadpoolController:
    """The libraries loaded, looked up once: that takes longer than a small search."""
    return ThreadpoolController()


class SharedLimit:
    """A limit on the threads of BLAS that several fits may hold at the same time.

    BLAS has one number of threads for the whole process. If each fit put back what it
    had found, a fit that began beside another would put back the other's limit, and
    the process would keep it. Here the smallest limit asked for holds, and the last
    one to leave puts back what the first one found.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._wanted: list[int] = []
        self._found: Any = None  # what the first one came upon

    @contextmanager
    def __call__(self, n_threads: int) -> Iterator[None]:
        """Hold a limit while a ``with`` block runs."""
        with self._lock:
            self._wanted.append(n_threads)
            set_before = self._apply()
            if len(self._wanted) == 1:
                self._found = set_before
        try:
            yield
        finally:
            with self._lock:
                self._wanted.remove(n_threads)
                if self._wanted:
                    self._apply()
                else:
                    self._found.restore_original_limits()

    def _apply(self) -> Any:
        return thread_pools().limit(limits=min(self._wanted), user_api="blas")


blas_threads = SharedLimit()
