"""Computing the next value while the last one is being used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")


def computed_ahead(compute: Callable[[_Item], _Value], items: Sequence[_Item]) -> Iterator[_Value]:
    """Yield compute(item) in order, each computed in a thread while its predecessor is used.

    Pays where `compute` leaves the interpreter to others, as the kernels do. A single item is
    computed here. What `compute` raises is raised in its turn; then, and when the iteration is
    given up, the computation under way is waited for and no further one begins.
    """
    if len(items) < 2:
        yield from map(compute, items)
        return
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="hippograph") as pool:
        coming = pool.submit(compute, items[0])
        for item in items[1:]:
            value = coming.result()
            coming = pool.submit(compute, item)
            yield value
        yield coming.result()
