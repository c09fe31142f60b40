"""The ledger: everything that came from the user or cost money, durable before it counts as done.

`Ledger` has the methods of its tables; each method that writes is one transaction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hippograph.store.database import Database
from hippograph.store.extractions import ExtractionTable
from hippograph.store.passages import PassageTable
from hippograph.store.records import MetaTable, ReplyTable, RunTable
from hippograph.store.vectors import VectorTable


class Ledger(PassageTable, ExtractionTable, VectorTable, ReplyTable, MetaTable, RunTable):
    """The SQLite database of a memory. May be used from several threads.

    A method that writes and returns has made its change durable (kill -9, power loss); one that
    raises has changed nothing. With mode="r", methods that write raise ReadOnlyError.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)

    @classmethod
    def open(cls, path: Path, mode: Literal["rw", "r"], *, create: bool = False) -> Ledger:
        """Open the ledger at `path`; arguments and errors as in `Database.open`."""
        return cls(Database.open(path, mode, create=create))

    def close(self) -> None:
        """Close the database. Calling it again does nothing."""
        self._database.close()
