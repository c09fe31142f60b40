"""The key of a model server: where it comes from, and whether it can be sent. Never shown."""

from __future__ import annotations

import os

from pydantic import SecretStr

from hippograph.errors import ConfigurationError

#: Sent to servers that ask for no key; the SDK insists on having one.
NO_KEY = "no-key-needed"


def checked_key(api_key: SecretStr | None, base_url: str | None) -> SecretStr:
    """Return the key to send: the one given, else OPENAI_API_KEY, else a placeholder.

    Raises
    ------
    ConfigurationError
        Without a key and an address of one's own, and for a key that no HTTP header can carry. The
        message does not contain it.
    """
    # Held as a secret throughout: a traceback that prints local variables must not show it.
    key = _trimmed(api_key or SecretStr(os.environ.get("OPENAI_API_KEY", "")))
    if not len(key) and base_url is None:
        raise ConfigurationError(
            "no key for the model server: set OPENAI_API_KEY (or HIPPOGRAPH_LLM_API_KEY), or name "
            "another server with llm_base_url"
        )
    # Such a character would make the HTTP library quote the whole header in its error.
    if not _fits_a_header(key):
        raise ConfigurationError(
            "the model server's key holds white space or a non-ASCII character; set it again"
        )
    return key if len(key) else SecretStr(NO_KEY)


def _trimmed(key: SecretStr) -> SecretStr:
    return SecretStr(key.get_secret_value().strip())


def _fits_a_header(key: SecretStr) -> bool:
    return all("!" <= char <= "~" for char in key.get_secret_value())
