"""A small corpus with scripted facts, and a memory over it."""

from __future__ import annotations

import pathlib

import hippograph
from tests.fakes import HashEncoder, ScriptedExtractor

THOMAS = "Thomas studies synapses."
ALZHEIMER = "Synapses fail early in Alzheimer's."
STANFORD = "Thomas teaches at Stanford."
OTHER = "Otto teaches at Oxford."
TRIPLES = {
    THOMAS: [("Thomas", "studies", "synapses")],
    ALZHEIMER: [("synapses", "fail in", "Alzheimer's")],
    STANFORD: [("Thomas", "teaches at", "Stanford")],
    OTHER: [("Otto", "teaches at", "Oxford")],
}
QUESTION = "Which Stanford professor studies Alzheimer's?"
ENTITIES = {QUESTION: ["Stanford", "Alzheimer\u2019s"]}


def open_memory(path: pathlib.Path, **changes):
    parts = {
        "phrase_encoder": HashEncoder(),
        "passage_encoder": HashEncoder(),
        "extractor": ScriptedExtractor(TRIPLES, query_entities=ENTITIES),
    }
    return hippograph.open(path, **{**parts, **changes})
