"""An event loop in a thread of its own, so that asynchronous back ends serve synchronous callers.

It works where the caller's thread already runs a loop (notebooks, servers), and keeps connections
open between calls.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Job(Generic[T]):
    """A coroutine on its way in another thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, T],
        when_done: Callable[[], None] | None,
    ) -> None:
        self._loop = loop
        self._when_done = when_done
        self._done = threading.Event()
        self._task: asyncio.Task[T] | None = None
        loop.call_soon_threadsafe(self._start, coroutine)

    def result(self) -> T:
        """Wait for the end and return the coroutine's result, or raise its exception."""
        self._done.wait()
        assert self._task is not None
        return self._task.result()

    def cancel(self) -> None:
        """Cancel the coroutine and wait until it has cleaned up. No effect after its end."""
        if not self._done.is_set():
            self._loop.call_soon_threadsafe(self._cancel_task)
            self._done.wait()

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._task = self._loop.create_task(coroutine)
        self._task.add_done_callback(self._finish)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _finish(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()  # Marks it as seen: a job that nobody asks for must not be logged.
        self._done.set()
        if self._when_done is not None:
            self._when_done()


class EventLoopThread:
    """Runs coroutines in a background thread, started at first use and again after `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._runner: _Runner | None = None

    def submit(
        self, coroutine: Coroutine[Any, Any, T], when_done: Callable[[], None] | None = None
    ) -> Job[T]:
        """Start `coroutine`; `when_done` is called in the background thread at its end."""
        with self._lock:
            if self._runner is None:
                self._runner = _Runner(self._name)
                # Ends the thread at garbage collection or interpreter exit, whichever is first.
                weakref.finalize(self, self._runner.stop)
            return Job(self._runner.loop, coroutine, when_done)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run `coroutine` to its end and return its result; an interruption cancels it."""
        job = self.submit(coroutine)
        try:
            return job.result()
        finally:
            job.cancel()

    @property
    def is_running(self) -> bool:
        """True between the first `submit` and `close`."""
        return self._runner is not None

    def close(self) -> None:
        """Cancel what still runs and end the thread."""
        with self._lock:
            runner, self._runner = self._runner, None
        if runner is not None:
            runner.stop()


class _Runner:
    """The thread and its loop; knows nothing of `EventLoopThread`, so that it can be collected."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            while tasks := asyncio.all_tasks(self.loop):
                for task in tasks:
                    task.cancel()
                self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

    def stop(self) -> None:
        if self.loop.is_closed():
            return
        self.loop.call_soon_threadsafe(self.loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()
