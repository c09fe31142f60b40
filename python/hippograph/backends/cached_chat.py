"""A chat model whose replies are paid for once.

A reply is written durably before anyone sees it. Its key covers everything that can change it:
server, model, messages, sampling, length limit, schema, and the response format in force.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any
from weakref import WeakValueDictionary

from hippograph.protocols import ChatModel, ChatReply, ChatRequest, ReplyCache
from hippograph.types import Usage

_KEY_VERSION = 1


class CachedChat:
    """Puts a `ReplyCache` in front of a `ChatModel`. For use within one event loop at a time."""

    def __init__(self, model: ChatModel, cache: ReplyCache | None) -> None:
        self.model = model
        self._cache = cache
        self._cached_requests = 0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def usage(self) -> Usage:
        """What the model spent, and how many replies came from the cache."""
        return self.model.usage + Usage(cached_requests=self._cached_requests)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the stored reply, else the model's, stored. Raises what the model raises."""
        if self._cache is None:
            return await self.model.complete(request)
        # Equal requests at the same time wait for the first: its reply serves them all.
        identity = reply_key(self.model, request, "")
        lock = self._locks.setdefault(identity, asyncio.Lock())
        async with lock:
            stored = self._stored(request)
            if stored is not None:
                self._cached_requests += 1
                return stored
            reply = await self.model.complete(request)
            self._store(request, reply)
            return reply

    def reject(self, request: ChatRequest, reply: ChatReply) -> None:
        """Mark a reply as useless, so that the next `complete` asks the model again.

        The text stays in the cache for whoever wants to know what the model said.
        """
        if self._cache is not None:
            self._store(request, reply, rejected=True)

    def _stored(self, request: ChatRequest) -> ChatReply | None:
        assert self._cache is not None
        # The format in force is known only after asking, so a reply in any allowed one will do.
        for response_format in self.model.response_formats:
            value = self._cache.get_reply(reply_key(self.model, request, response_format))
            reply = _read_reply(value, response_format)
            if reply is not None:
                return reply
        return None

    def _store(self, request: ChatRequest, reply: ChatReply, *, rejected: bool = False) -> None:
        # In the loop's own thread and without an await after the reply: a cancellation cannot come
        # between being paid for and being stored.
        assert self._cache is not None
        value: dict[str, Any] = {
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.usage.prompt_tokens,
            "completion_tokens": reply.usage.completion_tokens,
        }
        if rejected:
            value["rejected"] = True
        key = reply_key(self.model, request, reply.response_format)
        self._cache.put_reply(key, json.dumps(value, ensure_ascii=True))


def reply_key(model: ChatModel, request: ChatRequest, response_format: str) -> str:
    """Return the hexadecimal SHA-256 of everything that decides a reply."""
    parts = {
        "version": _KEY_VERSION,
        "model": model.fingerprint,
        "messages": request.messages,
        "temperature": request.temperature,
        "seed": request.seed,
        "max_reply_tokens": request.max_reply_tokens,
        "schema": request.reply_schema,
        "response_format": response_format,
    }
    canonical = json.dumps(parts, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _read_reply(value: str | None, response_format: str) -> ChatReply | None:
    """Return a stored reply; None for one that is absent, rejected or not readable."""
    try:
        stored = json.loads(value) if value is not None else None
    except ValueError:
        return None
    if not isinstance(stored, dict) or stored.get("rejected"):
        return None
    text, finish_reason = stored.get("text"), stored.get("finish_reason")
    if not isinstance(text, str) or not isinstance(finish_reason, str):
        return None
    return ChatReply(
        text=text,
        finish_reason=finish_reason,
        usage=Usage(cached_requests=1),
        response_format=response_format,
    )
