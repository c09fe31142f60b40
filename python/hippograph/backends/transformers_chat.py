"""A local causal language model through `transformers`, greedy, one request at a time."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from hippograph.backends.llm_extractor import LlmExtractor, make_llm_extractor
from hippograph.backends.provider_errors import RequestRefusedError
from hippograph.config import Settings
from hippograph.errors import ConfigurationError, MissingExtraError, ProviderError
from hippograph.protocols import ChatReply, ChatRequest, ReplyCache
from hippograph.types import Usage

#: Room that must be left for a reply in the model's context.
_MIN_REPLY_TOKENS = 16


class TransformersChat:
    """A causal language model in this process. Satisfies `ChatModel`.

    Parameters
    ----------
    model : str
        Hub id, local folder, or a GGUF file. Files on disk are used without any network.
    device : str or None
        A torch device; None takes CUDA when there is one.

    Notes
    -----
    Decoding is greedy whatever the request's temperature, so the same request has the same reply.
    The model is loaded by the first request. Remote code is never run.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        if not model.strip():
            raise ConfigurationError(
                "no model named: write the extractor as transformers:<hub id or folder>"
            )
        self._model_name = model
        self._device = device
        self._loaded: _LoadedModel | None = None
        self._turn = threading.Lock()
        self._usage = Usage()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model_name!r})"

    @property
    def name(self) -> str:
        """Back end and model; of a path only the last part."""
        path = Path(self._model_name)
        return f"transformers:{path.name if path.exists() else self._model_name}"

    @property
    def usage(self) -> Usage:
        """Requests and tokens so far; they cost nothing."""
        return self._usage

    @property
    def fingerprint(self) -> str:
        """Back end and model."""
        return f"transformers {self._model_name} greedy"

    @property
    def response_formats(self) -> tuple[str, ...]:
        """Plain text only."""
        return ("none",)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's reply.

        Raises
        ------
        ConfigurationError, MissingExtraError
            When the model cannot be loaded.
        ProviderError
            When the request does not fit into the model's context, or the model fails on it.
        """
        stop = threading.Event()
        work = asyncio.ensure_future(asyncio.to_thread(self._complete, request, stop))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # A thread cannot be cancelled: the model is told to stop after the current token.
            stop.set()
            await asyncio.gather(work, return_exceptions=True)
            raise

    async def close(self) -> None:
        """Free the model's memory."""
        self._loaded = None

    def _complete(self, request: ChatRequest, stop: threading.Event) -> ChatReply:
        with self._turn:
            if stop.is_set():
                raise ProviderError("cancelled")
            if self._loaded is None:
                self._loaded = _LoadedModel(self._model_name, self._device)
            reply = self._loaded.generate(request, stop)
            self._usage = self._usage + reply.usage
            return reply


class _LoadedModel:
    """Tokenizer and weights."""

    def __init__(self, name: str, device: str | None) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtraError(f"the language model {name!r}", "torch") from error
        place = _where(name)
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        # Half precision, in which many models are stored, takes minutes for a sentence on a CPU.
        dtype = torch.float32 if self._device == "cpu" else "auto"
        # Hub, file and conversion problems come as many types, documented nowhere.
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(**place)
            model = transformers.AutoModelForCausalLM.from_pretrained(**place, dtype=dtype)
        except Exception as error:
            reason = " ".join(str(error).split())[:300]
            raise ConfigurationError(
                f"the language model {name!r} could not be loaded: {reason}"
            ) from error
        self._model = model.to(self._device).eval()
        self._context = int(getattr(model.config, "max_position_embeddings", 0) or 2**31)

    def generate(self, request: ChatRequest, stop: threading.Event) -> ChatReply:
        import torch
        from transformers import StoppingCriteriaList

        inputs = self._encode(request).to(self._device)
        num_prompt = int(inputs.shape[1])
        room = min(request.max_reply_tokens, self._context - num_prompt)
        if room < _MIN_REPLY_TOKENS:
            raise RequestRefusedError(
                f"the prompt of {num_prompt} tokens leaves no room for a reply in the model's "
                f"context of {self._context} tokens",
                "context",
            )
        try:
            with torch.inference_mode():
                output = self._model.generate(
                    inputs,
                    attention_mask=torch.ones_like(inputs),
                    max_new_tokens=room,
                    do_sample=False,
                    pad_token_id=self._pad_id(),
                    stopping_criteria=StoppingCriteriaList([_StopWhenSet(stop)]),
                )
        except RuntimeError as error:  # Out of memory, among others.
            raise ProviderError(f"the language model failed: {str(error)[:300]}") from error
        reply = output[0, num_prompt:]
        ended = bool(len(reply)) and int(reply[-1]) in self._end_ids()
        return ChatReply(
            text=self._tokenizer.decode(reply, skip_special_tokens=True),
            finish_reason="stop" if ended else "length",
            usage=Usage(requests=1, prompt_tokens=num_prompt, completion_tokens=len(reply)),
            response_format="none",
        )

    def _encode(self, request: ChatRequest) -> Any:
        if getattr(self._tokenizer, "chat_template", None):
            messages = [{"role": role, "content": text} for role, text in request.messages]
            text = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
            return self._tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        turns = [f"{role.capitalize()}: {text}\n\n" for role, text in request.messages]
        return self._tokenizer("".join(turns) + "Assistant:", return_tensors="pt").input_ids

    def _end_ids(self) -> set[int]:
        ids = self._model.generation_config.eos_token_id
        ids = ids if isinstance(ids, list) else [ids]
        return {int(i) for i in [*ids, self._tokenizer.eos_token_id] if i is not None}

    def _pad_id(self) -> int:
        pad = self._tokenizer.pad_token_id
        return int(pad) if pad is not None else min(self._end_ids(), default=0)


class _StopWhenSet:
    """A stopping criterion of `transformers`: ends generation when an event is set."""

    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def __call__(self, input_ids: Any, *_: Any, **__: Any) -> Any:
        import torch

        return torch.full(
            (input_ids.shape[0],), self._event.is_set(), device=input_ids.device, dtype=torch.bool
        )


def _where(name: str) -> dict[str, Any]:
    """Return the arguments of `from_pretrained` that say where the model is."""
    path = Path(name).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return {
            "pretrained_model_name_or_path": str(path.parent),
            "gguf_file": path.name,
            "local_files_only": True,
        }
    if path.is_dir():
        return {"pretrained_model_name_or_path": str(path), "local_files_only": True}
    return {"pretrained_model_name_or_path": name}


def make_transformers_extractor(
    model: str, settings: Settings, cache: ReplyCache | None
) -> LlmExtractor:
    """Return an extractor on a local causal language model, loaded by its first request.

    Raises
    ------
    ConfigurationError
        Without a model name.
    """
    return make_llm_extractor(TransformersChat(model), settings, cache)
