"""Which settings and back ends a memory is opened with, and whether they fit what it holds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hippograph.backends import registry
from hippograph.config import REMEMBERED_SETTINGS, STORED_SETTINGS, Settings
from hippograph.errors import ConfigurationError, EncoderMismatchError, InputError
from hippograph.protocols import ChatModel, Encoder, Extractor, ReplyCache
from hippograph.store.ledger import Ledger

_ADDRESSES = ("llm_base_url", "embedding_base_url")
_ENCODER_SETTINGS = ("phrase_encoder", "passage_encoder")
_EXAMPLES = {"encoder": "wordllama", "extractor": "offline"}


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return a path the operating system can have, or raise InputError."""
    try:
        checked = Path(path)
        possible = b"\0" not in os.fsencode(checked)
    except (TypeError, UnicodeEncodeError):
        possible = False
    if not possible:
        raise InputError(f"path must name a directory, got {path!r}")
    return checked


def effective_settings(given: Settings | None, recorded: Mapping[str, Any] | None) -> Settings:
    """Merge: argument or environment > what the memory recorded > default."""
    given = given if given is not None else Settings()
    if not isinstance(given, Settings):
        raise ConfigurationError(
            f"settings must be hippograph.Settings(...), not {type(given).__name__}"
        )
    explicit = {name: getattr(given, name) for name in given.model_fields_set}
    known = set(STORED_SETTINGS) | set(REMEMBERED_SETTINGS)
    stored = {name: value for name, value in (recorded or {}).items() if name in known}
    merged = {**stored, **explicit}
    if recorded is None and "synonymy_floor" not in explicit:
        # A new memory asked for a tau below the default floor: store pairs down to there.
        floor = Settings.model_fields["synonymy_floor"].default
        merged["synonymy_floor"] = min(floor, merged.get("synonymy_threshold", floor))
    return Settings(**merged)


def check_against_recorded(settings: Settings, recorded: Mapping[str, Any]) -> None:
    """Refuse settings that differ from those the stored data was made with."""
    for name in STORED_SETTINGS:
        if name in _ENCODER_SETTINGS or name not in recorded:
            continue  # encoders are compared by the name of their vectors
        if getattr(settings, name) != recorded[name]:
            raise ConfigurationError(
                f"this memory was built with {name}={recorded[name]!r}, not "
                f"{getattr(settings, name)!r}; leave the setting out, or index into a new directory"
            )


def recordable(settings: Settings) -> dict[str, Any]:
    """Return the settings that are written into the memory; never a key or an address."""
    return {name: getattr(settings, name) for name in (*STORED_SETTINGS, *REMEMBERED_SETTINGS)}


class ReadOnlyReplies:
    """Stored replies of a memory that must not be written to: new ones are used and dropped."""

    def __init__(self, replies: ReplyCache) -> None:
        self._replies = replies

    def get_reply(self, key: str) -> str | None:
        return self._replies.get_reply(key)

    def put_reply(self, key: str, value: str) -> None:
        """Do nothing: the memory is open for reading."""


class Backends:
    """Encoders and extractor of a memory: given objects, or made from settings when needed."""

    def __init__(
        self,
        settings: Settings,
        cache: ReplyCache,
        *,
        phrase_encoder: Encoder | str | None,
        passage_encoder: Encoder | str | None,
        extractor: Extractor | str | None,
        llm: ChatModel | None,
    ) -> None:
        self._settings = settings
        self._cache = cache
        self._phrase_encoder = phrase_encoder
        self._passage_encoder = passage_encoder
        self._extractor = extractor
        self._llm = llm
        self._made: dict[str, Encoder] = {}
        self._made_extractor: Extractor | None = None
        self._recorded_names: dict[str, str] = {}
        self._own_servers: tuple[str, ...] = ()

    def expect_encoders(self, names: Mapping[str, str]) -> None:
        """Refuse, from now on, encoders of other names ("phrase_encoder", "passage_encoder")."""
        self._recorded_names = dict(names)

    def check_given_encoders(self, specs_differ: Mapping[str, bool]) -> None:
        """Compare at once the encoders that were named by the caller; others when first used."""
        if self._phrase_encoder is not None or specs_differ.get("phrase_encoder"):
            self.phrase_encoder()
        if self._passage_encoder is not None or specs_differ.get("passage_encoder"):
            self.passage_encoder()

    def check_new(self, recorded: Mapping[str, Any]) -> None:
        """Refuse unusable specs that are not `recorded` yet, before passages are paid for.

        Encoders are made, which they will be anyway. Of the extractor only the kind is looked at:
        it may be costly to load, and is not needed where facts are supplied.
        """
        if self._settings.phrase_encoder != recorded.get("phrase_encoder"):
            self.phrase_encoder()
        if self._settings.passage_encoder != recorded.get("passage_encoder"):
            self.passage_encoder()
        spec = self._settings.extractor
        is_spec = self._extractor is None or isinstance(self._extractor, str)
        if is_spec and spec != recorded.get("extractor"):
            known = registry.known_extractors()
            if spec.strip().partition(":")[0] not in {form.partition(":")[0] for form in known}:
                raise ConfigurationError(
                    f"unknown extractor {spec!r}; known extractors: {', '.join(known)}"
                )

    def record_servers(self, ledger: Ledger) -> None:
        """Note that a server of the caller's own was named: its address is never stored.

        Without the note, a later query would go, with the key, to the SDK's default server.
        """
        named = [name for name in _ADDRESSES if getattr(self._settings, name) is not None]
        noted = ledger.get_meta("own_servers") or []
        if not set(named) <= set(noted):
            ledger.set_meta("own_servers", sorted({*named, *noted}))

    def expect_servers(self, names: Sequence[str]) -> None:
        """Require, from now on, an address wherever the memory was made with one."""
        self._own_servers = tuple(names)

    def _check_server(self, spec: str, address: str) -> None:
        if (
            spec.startswith("openai:")
            and address in self._own_servers
            and getattr(self._settings, address) is None
            and not os.environ.get("OPENAI_BASE_URL")
        ):
            raise ConfigurationError(
                f"this memory was made with a server of its own, whose address is not stored; give "
                f"it again with {address}, HIPPOGRAPH_{address.upper()} or "
                f"--{address.replace('_', '-')}"
            )

    def phrase_encoder(self) -> Encoder:
        return self._encoder("phrase_encoder", self._phrase_encoder, self._settings.phrase_encoder)

    def passage_encoder(self) -> Encoder:
        return self._encoder(
            "passage_encoder", self._passage_encoder, self._settings.passage_encoder
        )

    def extractor(self) -> Extractor:
        if self._extractor is not None and not isinstance(self._extractor, str):
            return self._extractor
        if self._made_extractor is None:
            if self._extractor is None and self._llm is not None:
                from hippograph.backends.llm_extractor import make_llm_extractor

                self._made_extractor = make_llm_extractor(self._llm, self._settings, self._cache)
            else:
                spec = self._extractor or self._settings.extractor
                self._check_server(spec, "llm_base_url")
                self._made_extractor = registry.make_extractor(spec, self._settings, self._cache)
        return self._made_extractor

    def close(self) -> None:
        """End connections and threads of what was made here, not given."""
        made = [self._made_extractor, *self._made.values()]
        self._made_extractor = None
        self._made.clear()
        for backend in made:
            close = getattr(backend, "close", None)
            if close is not None:
                close()

    def _encoder(self, role: str, given: Encoder | str | None, spec: str) -> Encoder:
        if given is not None and not isinstance(given, str):
            encoder = given
        else:
            wanted = given or spec
            self._check_server(wanted, "embedding_base_url")
            if wanted not in self._made:
                self._made[wanted] = registry.make_encoder(wanted, self._settings)
            encoder = self._made[wanted]
        recorded = self._recorded_names.get(role)
        if recorded is not None and encoder.name != recorded:
            raise EncoderMismatchError(
                f"this memory's vectors were made by {role} {recorded!r}, not {encoder.name!r}; "
                "open it with the same model, or index into a new directory"
            )
        return encoder


def spec_of(given: Encoder | Extractor | str | None, kind: str, default: str = "") -> str:
    """Return what is recorded as the setting: the spec string, or the name of a given object."""
    if given is None:
        return default
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if not isinstance(name, str):
        raise ConfigurationError(
            f"{given!r} is no {kind}: give a spec such as {_EXAMPLES[kind]!r}, or an object with "
            f"the methods of hippograph.protocols.{kind.capitalize()}"
        )
    return name
