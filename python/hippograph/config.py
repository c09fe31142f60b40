"""Every setting, its default and where that default comes from.

Precedence: argument > environment variable `HIPPOGRAPH_<NAME>` > what the memory recorded >
default.
Keys are read from the environment only and are never written to a memory, a log or an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from hippograph.errors import ConfigurationError

Normalizer: TypeAlias = Literal["unicode", "ascii"]
EdgeCombination: TypeAlias = Literal["sum", "max", "overwrite"]
OccurrenceCount: TypeAlias = Literal["distinct_triples", "mentions", "binary"]
NeighborSearch: TypeAlias = Literal["auto", "exact", "hnsw"]
SynonymyQueryRule: TypeAlias = Literal["any", "three_ascii_alphanumerics"]
TieOrder: TypeAlias = Literal["ascending", "descending"]
Propagation: TypeAlias = Literal["ppr", "none"]
StructuredOutput: TypeAlias = Literal["auto", "json_schema", "json_object", "none"]
QueryEntitySource: TypeAlias = Literal["extractor", "names"]
Accuracy: TypeAlias = Literal["fast", "tight", "exact"]
Method: TypeAlias = Literal["hipporag", "dense"]

METHODS: tuple[Method, ...] = ("hipporag", "dense")
ACCURACIES: tuple[Accuracy, ...] = ("fast", "tight", "exact")

#: What `--preset published` changes: the choices of the public code (branch `legacy`), each of
#: which is a key of `Settings`. README has the same table in words.
PUBLISHED_CHOICES: Mapping[str, Any] = {
    "normalizer": "ascii",
    "edge_combination": "overwrite",
    "synonymy_query_rule": "three_ascii_alphanumerics",
    "synonymy_max_neighbors": 101,
    "occurrence_count": "distinct_triples",
    "tie_order": "descending",
    "neighbor_search": "exact",
    "link_threshold": -1.0,
    "synonymy_threshold": 0.8,
    "restart_probability": 0.5,
    "accuracy": "exact",
}

#: Settings that shape what is stored. A memory with passages refuses to be opened with others.
STORED_SETTINGS: tuple[str, ...] = (
    "normalizer",
    "phrase_encoder",
    "passage_encoder",
    "synonymy_floor",
    "synonymy_max_neighbors",
    "synonymy_query_rule",
    "occurrence_count",
)

#: Settings recorded as the memory's defaults but free to differ at each opening.
REMEMBERED_SETTINGS: tuple[str, ...] = (
    "extractor",
    "query_entity_source",
    "edge_combination",
    "synonymy_threshold",
    "neighbor_search",
    "method",
    "restart_probability",
    "accuracy",
    "node_specificity",
    "tie_order",
    "link_threshold",
)


class Settings(BaseSettings):
    """All choices of a memory. Immutable; unknown names are errors.

    Build with keyword arguments, `Settings.preset("published")`, or from the environment.
    """

    model_config = SettingsConfigDict(
        env_prefix="HIPPOGRAPH_", frozen=True, extra="forbid", validate_default=True
    )

    # What is stored -----------------------------------------------------------------------------
    normalizer: Normalizer = Field(
        "unicode",
        description="When two phrases are one node. 'unicode' keeps every script; 'ascii' deletes "
        "all but A-Z, a-z, 0-9, as the published code does.",
    )
    phrase_encoder: str = Field(
        "wordllama",
        description="Encoder of phrases, for synonymy edges and linking: wordllama (the default: "
        "its weights come with the package), hf:<hub id or folder>, onnx:<hub id or folder>, "
        "openai:<model>.",
    )
    passage_encoder: str = Field(
        "wordllama",
        description="Encoder of passages and queries, for dense retrieval; specs as above.",
    )
    synonymy_floor: float = Field(
        0.6,
        ge=-1.0,
        le=1.0,
        description="Pairs of phrases at least this similar are stored, so that "
        "synonymy_threshold can be moved down to here without encoding again. 0.6 leaves room "
        "below the paper's grid of 0.8 and 0.9.",
    )
    synonymy_max_neighbors: int = Field(
        100,
        ge=1,
        description="Most similar phrases kept per phrase. The published code means to stop at "
        "100 and accepts 101.",
    )
    synonymy_query_rule: SynonymyQueryRule = Field(
        "any",
        description="Which phrases search for synonyms. The published code lets only those with "
        "three or more ASCII letters or digits search (any may be found).",
    )
    occurrence_count: OccurrenceCount = Field(
        "distinct_triples",
        description="How often a phrase counts in a passage: once per distinct triple it is in "
        "(published code), per triple mention, or once.",
    )

    # What the memory does unless told otherwise ---------------------------------------------------
    extractor: str = Field(
        "offline",
        description="Who finds entities and facts: offline (the default: needs no key and no "
        "server), openai:<model>, transformers:<hub id or folder>, none.",
    )
    query_entity_source: QueryEntitySource = Field(
        "extractor",
        description="Who finds the entities of a query: the extractor (the paper's language model, "
        "or what stands in for it), or names: graph phrases that stand in the query, found in "
        "microseconds without a model; the extractor is asked only where there are none.",
    )
    neighbor_search: NeighborSearch = Field(
        "auto",
        description="Exact blocked search (published code), hnswlib, or by size (exact while it is "
        "faster).",
    )
    synonymy_threshold: float = Field(
        0.8, ge=-1.0, le=1.0, description="tau, inclusive (paper: 0.8). Not below synonymy_floor."
    )
    edge_combination: EdgeCombination = Field(
        "sum",
        description="Weight of a pair that is both related and synonymous: count + similarity, the "
        "larger, or, as in the published code, the similarity in place of the count. 'sum' loses "
        "no evidence.",
    )
    method: Method = Field(
        "hipporag", description="Retrieval method used when none is named: the paper's."
    )
    restart_probability: float = Field(
        0.5,
        gt=0.0,
        le=1.0,
        description="Chance that the walk returns to the query nodes (the paper's damping, 0.5). "
        "igraph's and networkx's damping = 1 - restart_probability.",
    )
    accuracy: Accuracy = Field(
        "fast",
        description="What PageRank promises against the exact solution: fast (on average at least "
        "99 of 100 of the 20 best passages, and all but 1e-5 of their score), tight (99.7, 1e-6), "
        "or exact (node scores within tolerance, proven). The published code solves exactly.",
    )
    node_specificity: bool = Field(
        True, description="Weigh each query node by 1/(passages it occurs in) (paper, section 2)."
    )
    link_threshold: float = Field(
        0.0,
        ge=-1.0,
        le=1.0,
        description="A query entity links to its nearest node only at this similarity or above. "
        "The published code has no limit (-1); below 0 a node is unlike the entity.",
    )
    tie_order: TieOrder = Field(
        "ascending",
        description="Order of passages of equal score, by id; the published code's is descending.",
    )

    # How queries run ------------------------------------------------------------------------------
    use_synonymy: bool = Field(True, description="False leaves synonymy edges out (ablation).")
    propagation: Propagation = Field(
        "ppr", description="'none' scores passages by the query nodes alone (ablation)."
    )
    tolerance: float = Field(
        1e-6,
        gt=0.0,
        description="Promised L1 distance of node scores to the exact solution where accuracy is "
        "exact. On 100 MuSiQue questions 1e-6 gives the same 20 best passages as 1e-12; 1e-4 "
        "changes them for 3.",
    )
    max_iterations: int = Field(
        10_000,
        ge=1,
        description="Limit of solver steps per query; a guard, far above the tens that are usual.",
    )
    num_threads: int = Field(0, ge=0, description="Threads of the native core; 0 = all cores.")

    # Model servers --------------------------------------------------------------------------------
    llm_base_url: str | None = Field(
        None, description="Chat endpoint; None = the SDK's default. Never stored."
    )
    llm_api_key: SecretStr | None = Field(None, description="Else OPENAI_API_KEY. Never stored.")
    embedding_base_url: str | None = Field(
        None, description="Embeddings endpoint; None = the SDK's default. Never stored."
    )
    embedding_api_key: SecretStr | None = Field(None, description="Else llm_api_key.")
    llm_max_concurrency: int = Field(
        8, ge=1, description="Requests in flight at once (published: 10 processes)."
    )
    llm_requests_per_minute: int | None = Field(None, ge=1, description="None = no limit.")
    llm_tokens_per_minute: int | None = Field(None, ge=1, description="None = no limit.")
    llm_timeout_seconds: float = Field(60.0, gt=0.0, description="Per request (published: 60).")
    llm_max_attempts: int = Field(
        6, ge=1, description="Tries of one request, the first included (published: 5 retries)."
    )
    llm_max_reply_tokens: int = Field(
        4096, ge=1, description="Limit of one reply (published: 4096)."
    )
    llm_structured_output: StructuredOutput = Field(
        "auto", description="JSON schema when the server honours it, else JSON mode, else neither."
    )
    llm_budget_tokens: int | None = Field(None, ge=1, description="Stop a run after this many.")
    llm_budget_cost: float | None = Field(None, gt=0.0, description="Stop a run after this much.")
    llm_prompt_price: float = Field(0.0, ge=0.0, description="Money per million prompt tokens.")
    llm_completion_price: float = Field(0.0, ge=0.0, description="Money per million reply tokens.")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(_in_one_sentence(error)) from None

    @model_validator(mode="after")
    def _threshold_is_not_below_the_floor(self) -> Settings:
        if self.synonymy_threshold < self.synonymy_floor:
            raise ValueError(
                f"synonymy_threshold {self.synonymy_threshold:g} is below synonymy_floor "
                f"{self.synonymy_floor:g}, under which pairs are not stored; "
                "lower synonymy_floor too"
            )
        return self

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Settings:
        """Return the settings named "default" or "published", with `changes` applied."""
        if name == "published":
            return cls(**{**PUBLISHED_CHOICES, **changes})
        if name == "default":
            return cls(**changes)
        raise ConfigurationError(f"unknown preset {name!r}; known presets: default, published")

    def changed(self, **changes: Any) -> Settings:
        """Return a copy with some values replaced, validated like any other."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**values, **changes})


def _in_one_sentence(error: ValidationError) -> str:
    parts = []
    for problem in error.errors():
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            near = get_close_matches(where, Settings.model_fields, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            parts.append(f"unknown setting {where!r}{hint}")
        elif where:
            parts.append(f"setting {where}: {problem['msg']}, got {problem['input']!r}")
        else:
            parts.append(str(problem["msg"]).removeprefix("Value error, "))
    return "; ".join(parts)
