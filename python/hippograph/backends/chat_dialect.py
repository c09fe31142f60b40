"""What an OpenAI-compatible server understands, found out by asking, and remembered.

Servers differ in how a reply can be made JSON, in the name of the reply limit, and in whether a
temperature or seed may be given. A request starts in the richest dialect known to work; a refusal
(400, 422) moves to a poorer one, which is kept only if the server accepts it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hippograph.config import StructuredOutput
from hippograph.protocols import ChatRequest

#: In order of preference; what the word means is in `Dialect.parameters`.
AUTO_FORMATS = ("json_schema", "json_object", "none")

_ABOUT_FORMAT = re.compile(r"response_format|json|schema|grammar|structured|guided", re.IGNORECASE)
_ABOUT_LENGTH = re.compile(r"context|too (?:long|many|large)|maximum|exceed", re.IGNORECASE)


def formats_for(choice: StructuredOutput) -> tuple[str, ...]:
    """Return the response formats that a setting allows."""
    return AUTO_FORMATS if choice == "auto" else (choice,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One way to put a request to a server."""

    response_format: str
    limit_parameter: str = "max_tokens"
    sends_temperature: bool = True
    sends_seed: bool = True

    def parameters(self, request: ChatRequest) -> dict[str, Any]:
        """Return the arguments of the SDK's chat call, without the model's name."""
        parameters: dict[str, Any] = {
            "messages": [{"role": role, "content": text} for role, text in request.messages],
            self.limit_parameter: request.max_reply_tokens,
        }
        if self.sends_temperature:
            parameters["temperature"] = request.temperature
        if self.sends_seed and request.seed is not None:
            parameters["seed"] = request.seed
        if request.reply_schema is not None:
            if self.response_format == "json_schema":
                schema = {"name": "reply", "strict": True, "schema": dict(request.reply_schema)}
                parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
            elif self.response_format == "json_object":
                parameters["response_format"] = {"type": "json_object"}
        return parameters

    def after_refusal(self, message: str, formats: tuple[str, ...]) -> Dialect | None:
        """Return what to try next after the server said `message`, or None when nothing is left."""
        said = message.casefold()
        if "max_completion_tokens" in said and self.limit_parameter == "max_tokens":
            return replace(self, limit_parameter="max_completion_tokens")
        if "temperature" in said and self.sends_temperature:
            return replace(self, sends_temperature=False)
        if re.search(r"\bseed\b", said) and self.sends_seed:
            return replace(self, sends_seed=False)
        if _ABOUT_LENGTH.search(message) and not _ABOUT_FORMAT.search(message):
            return None
        return self.with_poorer_format(formats)

    def with_poorer_format(self, formats: tuple[str, ...]) -> Dialect | None:
        """Return the same with the next format of `formats`, or None after the last."""
        at = formats.index(self.response_format) + 1
        return replace(self, response_format=formats[at]) if at < len(formats) else None


def honours_schema(text: str, schema: Mapping[str, Any]) -> bool:
    """True when a complete reply could come from a server that enforces `schema`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and all(key in value for key in schema.get("required", ()))
