"""An OpenAI-compatible server on 127.0.0.1 that misbehaves on request.

It answers from the prompt alone, always the same: the entities of a passage are its capitalised
words, its triples link consecutive entities. Faults are scripted by a part of what is asked about:

    with LoopbackServer() as server:
        server.script("Oslo", status(429, {"retry-after": "1"}), say("no JSON here"))

makes the first request about Oslo a 429, the second a useless reply, and all later ones good.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hippograph.config import Settings

KEY = "sk-loopback-0123456789abcdef"
EMBEDDING_DIMENSION = 8
_BETWEEN_TAGS = re.compile(r"<(passage|question)>\n(.*?)\n</\1>", re.DOTALL)
_NAME = re.compile(r"[^\W\d_]\w*")


@dataclass(slots=True)
class Call:
    """One request as the server saw it."""

    path: str
    body: dict[str, Any]
    authorization: str
    at: float
    status: int = 0

    @property
    def subject(self) -> str:
        """The passage or question asked about, or the embedded texts."""
        if "input" in self.body:
            return "\n".join(self.body["input"])
        found = [
            match[2]
            for message in self.body["messages"]
            if message["role"] == "user"
            for match in _BETWEEN_TAGS.finditer(message["content"])
        ]
        return found[-1]

    @property
    def step(self) -> str:
        """What was asked: "entities", "triples", or "embeddings"."""
        if "input" in self.body:
            return "embeddings"
        return "triples" if "knowledge graph" in self.body["messages"][0]["content"] else "entities"

    @property
    def is_reminder(self) -> bool:
        """True when the request repeats a question after an unreadable reply."""
        return "could not be read" in self.body["messages"][-1].get("content", "")

    @property
    def response_format(self) -> str:
        """The format asked for."""
        return self.body.get("response_format", {}).get("type", "none")


Fault = Callable[[Call, Callable[[], str]], Awaitable[Response]]


def status(code: int, headers: Mapping[str, str] | None = None, message: str = "no") -> Fault:
    """Answer with an error; `{authorization}` in the message is the header that was sent."""

    async def fault(call: Call, _: Callable[[], str]) -> Response:
        text = message.replace("{authorization}", call.authorization)
        error = {"message": text, "type": "test", "code": None}
        return JSONResponse({"error": error}, code, dict(headers or {}))

    return fault


def quota_used_up() -> Fault:
    """Answer 429 in the way that means "pay first"."""

    async def fault(_: Call, __: Callable[[], str]) -> Response:
        error = {"message": "quota used up", "type": "billing", "code": "insufficient_quota"}
        return JSONResponse({"error": error}, 429)

    return fault


def say(text: str, finish_reason: str = "stop") -> Fault:
    """Answer with this reply in place of the good one."""

    async def fault(call: Call, _: Callable[[], str]) -> Response:
        return completion(call, text, finish_reason)

    return fault


def change(edit: Callable[[str], str], finish_reason: str = "stop") -> Fault:
    """Answer with the good reply, edited."""

    async def fault(call: Call, good: Callable[[], str]) -> Response:
        return completion(call, edit(good()), finish_reason)

    return fault


def hang(seconds: float) -> Fault:
    """Answer well, but late."""

    async def fault(call: Call, good: Callable[[], str]) -> Response:
        await asyncio.sleep(seconds)
        return completion(call, good())

    return fault


def body(content: bytes, media_type: str = "application/json") -> Fault:
    """Answer 200 with any content."""

    async def fault(_: Call, __: Callable[[], str]) -> Response:
        return Response(content, 200, media_type=media_type)

    return fault


def drop() -> Fault:
    """Close the connection in the middle of the body."""

    async def fault(_: Call, __: Callable[[], str]) -> Response:
        return _Dropped()

    return fault


class _Dropped(Response):
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"1000"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"id": "', "more_body": False})


def completion(call: Call, text: str, finish_reason: str = "stop") -> Response:
    """Return a chat completion; a token is a quarter of a character count, as good as any."""
    prompt = sum(len(message["content"]) for message in call.body["messages"]) // 4
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": text},
    }
    usage = {"prompt_tokens": prompt, "completion_tokens": len(text) // 4}
    usage["total_tokens"] = sum(usage.values())
    content = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": call.body["model"],
        "choices": [choice],
        "usage": usage,
    }
    return JSONResponse(content)


def entities_of(text: str) -> list[str]:
    """Return what the server takes for the entities of a text: its capitalised words."""
    words = [word for word in _NAME.findall(text) if word[0].isupper()]
    return list(dict.fromkeys(words))


def triples_of(text: str) -> list[list[str]]:
    """Return what the server takes for the triples of a text."""
    names = entities_of(text)
    return [[head, "is near", tail] for head, tail in itertools.pairwise(names)]


def vector_of(text: str) -> list[float]:
    """Return a vector, not of unit length, that depends on the text alone."""
    return [
        float(sum(text.encode()[i::EMBEDDING_DIMENSION]) + i) for i in range(EMBEDDING_DIMENSION)
    ]


@dataclass(slots=True)
class _Script:
    part: str
    step: str | None
    faults: list[Fault]
    forever: bool


@dataclass(slots=True)
class LoopbackServer:
    """The server, in a thread. `calls` has every request in order of arrival.

    Attributes
    ----------
    key : str or None
        The only accepted key; None accepts any.
    refused_formats : set of str
        Response formats answered with 400.
    delay_seconds : float
        Time taken by a good answer.
    embedding : callable
        Makes the embeddings' `data` list from the texts.
    """

    key: str | None = KEY
    refused_formats: set[str] = field(default_factory=set)
    delay_seconds: float = 0.0
    embedding: Callable[[list[str]], list[dict[str, Any]]] | None = None
    calls: list[Call] = field(default_factory=list)
    max_in_flight: int = 0
    _in_flight: int = 0
    _scripts: list[_Script] = field(default_factory=list)
    _server: uvicorn.Server | None = None
    _thread: threading.Thread | None = None
    _socket: socket.socket | None = None

    def script(
        self, part: str, *faults: Fault, step: str | None = None, forever: bool = False
    ) -> None:
        """Use `faults`, each once, for requests whose subject contains `part`.

        `step` restricts them to one kind of request; `forever` repeats the last one.
        """
        self._scripts.append(_Script(part, step, list(faults), forever))

    @property
    def base_url(self) -> str:
        """Address for the client."""
        assert self._socket is not None
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    @property
    def answered(self) -> list[Call]:
        """Requests answered with 200: those that cost something."""
        return [call for call in self.calls if call.status == 200]

    def __enter__(self) -> Self:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        routes = [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/embeddings", self._embed, methods=["POST"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes),
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=0,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            assert time.monotonic() < deadline, "the loopback server did not start"
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        assert self._thread is not None
        assert self._socket is not None
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    async def _chat(self, request: Request) -> Response:
        return await self._answer(request, self._good_completion)

    async def _embed(self, request: Request) -> Response:
        return await self._answer(request, self._good_embeddings)

    async def _answer(
        self, request: Request, good: Callable[[Call], Awaitable[Response]]
    ) -> Response:
        call = Call(
            path=request.url.path,
            body=await request.json(),
            authorization=request.headers.get("authorization", "").removeprefix("Bearer "),
            at=time.monotonic(),
        )
        self.calls.append(call)
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        try:
            response = await self._respond(call, good)
        finally:
            self._in_flight -= 1
        call.status = response.status_code
        return response

    async def _respond(self, call: Call, good: Callable[[Call], Awaitable[Response]]) -> Response:
        if self.key is not None and call.authorization != self.key:
            message = "Incorrect API key provided: {authorization}. Get one from your account page."
            return await status(401, message=message)(call, str)
        if call.response_format in self.refused_formats:
            message = f"'response_format.type' {call.response_format!r} is not supported"
            return await status(400, message=message)(call, str)
        for script in self._scripts:
            if script.faults and script.part in call.subject and script.step in (None, call.step):
                last = script.forever and len(script.faults) == 1
                fault = script.faults[0] if last else script.faults.pop(0)
                return await fault(call, lambda: good_reply(call))
        await asyncio.sleep(self.delay_seconds)
        return await good(call)

    async def _good_completion(self, call: Call) -> Response:
        return completion(call, good_reply(call))

    async def _good_embeddings(self, call: Call) -> Response:
        texts = call.body["input"]
        data = (self.embedding or embedding_data)(texts)
        # Not JSONResponse: it refuses the NaN that some servers send.
        content = json.dumps({"object": "list", "data": data, "model": "m", "usage": {}})
        return Response(content, media_type="application/json")


def embedding_data(texts: list[str]) -> list[dict[str, Any]]:
    """Return the embeddings in reverse order: `index` is what counts."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector_of(text)}
        for index, text in enumerate(texts)
    ]
    return data[::-1]


def good_reply(call: Call) -> str:
    """Return the right answer to a chat request."""
    if call.step == "triples":
        return json.dumps({"triples": triples_of(call.subject)}, ensure_ascii=False)
    return json.dumps({"named_entities": entities_of(call.subject)}, ensure_ascii=False)


def settings_for(server: LoopbackServer, **changes: Any) -> Settings:
    """Settings that reach the loopback server, with its key, for chat and embeddings."""
    values: dict[str, Any] = {
        "llm_base_url": server.base_url,
        "llm_api_key": KEY,
        "embedding_base_url": server.base_url,
        "llm_timeout_seconds": 5.0,
        "llm_max_attempts": 4,
    }
    return Settings(**{**values, **changes})
