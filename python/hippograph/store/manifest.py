"""The manifest of a snapshot: what each array file must be. Everything read from it is checked.

A manifest never names a file: the file of array `x` is `x.bin`, and names follow a strict pattern,
so that no manifest can point outside its directory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hippograph.errors import FormatError, InputError
from hippograph.store.encoding import decode_json, encode_json, refuse_keys, text_bytes
from hippograph.store.layout import parse_json, require_kind_and_version

#: Version of a snapshot's files. A change that an older hippograph would misread increments it.
SNAPSHOT_FORMAT_VERSION = 1
SNAPSHOT_KIND: Literal["hippograph snapshot"] = "hippograph snapshot"
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 64 << 20

#: A checksum covers this many bytes. CRC-32 finds every error burst of up to 32 bits and every pair
#: of flipped bits within a block this size, several times faster than a cryptographic hash.
CHECKSUM_BLOCK_BYTES = 16 << 20

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"
_MAX_DIMENSION = 1 << 48
_MAX_DIMENSIONS = 4

#: bool and object are missing on purpose: bytes of a stranger's file must be valid values.
DTYPES = tuple(
    np.dtype(code)
    for code in ("u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8")
)
_DTYPE_BY_CODE = {dtype.str: dtype for dtype in DTYPES}

_Size: TypeAlias = Annotated[int, Field(ge=0, le=_MAX_DIMENSION)]
_Crc32: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 32)]
_Name: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ArrayEntry(_Strict):
    """One array: element type, shape, size of its file, and the CRC-32 of each block of it."""

    dtype: str
    shape: Annotated[list[_Size], Field(max_length=_MAX_DIMENSIONS)]
    bytes: _Size
    crc32: list[_Crc32]

    @model_validator(mode="after")
    def _is_consistent(self) -> ArrayEntry:
        if self.dtype not in _DTYPE_BY_CODE:
            raise ValueError(f"unknown dtype {self.dtype!r}")
        expected = math.prod(self.shape) * self.numpy_dtype.itemsize
        if self.bytes != expected:
            raise ValueError(f"{self.bytes} bytes, but its shape and dtype need {expected}")
        blocks = -(-self.bytes // CHECKSUM_BLOCK_BYTES)
        if len(self.crc32) != blocks:
            raise ValueError(f"{len(self.crc32)} checksums, but its size needs {blocks}")
        return self

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The element type, little-endian."""
        return _DTYPE_BY_CODE[self.dtype]


class Manifest(_Strict):
    """Description of one snapshot; `info` is the caller's."""

    kind: Literal["hippograph snapshot"] = SNAPSHOT_KIND
    format_version: int = SNAPSHOT_FORMAT_VERSION
    byte_order: Literal["little"] = "little"
    number: Annotated[int, Field(ge=1, le=_MAX_DIMENSION)]
    created_at: float
    info: Any  # an object; not declared so, because its keys need not be valid UTF-8
    arrays: dict[_Name, ArrayEntry]

    @model_validator(mode="after")
    def _info_is_an_object(self) -> Manifest:
        if not isinstance(self.info, dict):
            raise ValueError("info is not an object")
        return self

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        return text_bytes(json.dumps(self.model_dump(), ensure_ascii=False, indent=1) + "\n")


def parse_manifest(data: bytes, path: object) -> Manifest:
    """Return the manifest in `data`.

    Raises
    ------
    FormatError
        Not JSON, not a manifest, contradicting itself, or of a newer version (names both).
    """
    try:
        value = parse_json(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is damaged: {error}") from error
    found = require_kind_and_version(value, path, SNAPSHOT_KIND, SNAPSHOT_FORMAT_VERSION)
    try:
        return Manifest.model_validate(found)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise FormatError(f"{path} is damaged: {where}: {problem['msg']}") from None


def checked_info(info: Mapping[str, object]) -> dict[str, Any]:
    """Return a plain copy of the caller's `info`; InputError if it is not JSON or holds a key."""
    if not isinstance(info, Mapping):
        raise InputError(f"info must be a mapping, got {type(info).__name__}")
    encoded = encode_json(info, "info")
    refuse_keys(info, "info")
    copy: dict[str, Any] = decode_json(encoded, "info")
    return copy
