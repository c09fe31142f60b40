"""Every kind of input document, and every way in which one can be bad."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hippograph.documents import read_passages
from hippograph.errors import InputError
from hippograph.text_files import WHOLE_FILE_CHARACTERS
from hippograph.types import ItemFailure, Passage


def read(*paths: Path | str, **options: Any) -> tuple[list[Passage], list[ItemFailure]]:
    items = list(read_passages(paths, **options))
    passages = [item for item in items if isinstance(item, Passage)]
    return passages, [item for item in items if isinstance(item, ItemFailure)]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


class TestJsonLines:
    def test_known_keys_and_the_rest_as_metadata(self, tmp_path: Path) -> None:
        record = {"_id": 7, "title": "T", "text": "x", "year": 1999, "metadata": {"lang": "en"}}
        path = write(tmp_path / "a.jsonl", json.dumps(record))
        (passage,), failures = read(path)
        assert failures == []
        assert passage == Passage(
            id="7",
            title="T",
            text="x",
            metadata={"year": 1999, "lang": "en"},
            source=f"{path}:1",
        )

    @pytest.mark.parametrize(
        "key", ["text", "passage", "paragraph_text", "contents", "content", "body", "page_content"]
    )
    def test_names_of_the_text(self, tmp_path: Path, key: str) -> None:
        (passage,), _ = read(write(tmp_path / "a.jsonl", json.dumps({key: "words"})))
        assert (passage.text, passage.title, passage.id) == ("words", "", None)

    def test_strings_are_passages(self, tmp_path: Path) -> None:
        (passage,), _ = read(write(tmp_path / "a.jsonl", '"just text"\n'))
        assert passage.text == "just text"

    def test_facts_and_repeated_text_are_not_metadata(self, tmp_path: Path) -> None:
        record = {"title": "T", "text": "x", "passage": "T\nx", "extracted_triples": [["a"]]}
        (passage,), _ = read(write(tmp_path / "a.jsonl", json.dumps(record)))
        assert passage.metadata == {}

    def test_own_source_is_kept(self, tmp_path: Path) -> None:
        line = json.dumps({"text": "x", "source": "book"})
        (passage,), _ = read(write(tmp_path / "a.jsonl", line))
        assert passage.source == "book"

    def test_bad_lines_are_named_and_the_rest_proceed(self, tmp_path: Path) -> None:
        lines = [
            b'{"text": "good"}',
            b'{"text": "cut',
            b"",
            b'{"title": "no text"}',
            b'{"text": "  \\n "}',
            b'{"text": "caf\xe9"}',
            b"[1, 2]",
            b'{"text": 5}',
            b'{"text": "x", "id": [1]}',
            b'{"text": "x", "metadata": "m"}',
            b"[" * 100_000,
            b'{"text": "good too"}',
        ]
        path = write(tmp_path / "a.jsonl", b"\n".join(lines))
        passages, failures = read(path)
        assert [passage.text for passage in passages] == ["good", "good too"]
        assert [failure.item for failure in failures] == [
            f"{path}:{line}" for line in (2, 4, 5, 6, 7, 8, 9, 10, 11)
        ]
        reasons = dict(zip((2, 4, 5, 6, 7, 8, 9, 10, 11), failures, strict=True))
        assert "not JSON" in reasons[2].reason
        assert "no text: expected one of the keys text, passage" in reasons[4].reason
        assert "empty" in reasons[5].reason
        assert "byte 0xe9 at column 14" in reasons[6].reason
        assert "deeply" in reasons[11].reason

    def test_unicode_surrogates_and_nul_come_through(self, tmp_path: Path) -> None:
        text = "東京 القاهرة é 🙂 \ud800 \x00 end"
        (passage,), failures = read(write(tmp_path / "a.jsonl", json.dumps({"text": text})))
        assert (passage.text, failures) == (text, [])

    def test_byte_order_mark_and_windows_line_ends(self, tmp_path: Path) -> None:
        content = '\ufeff{"text": "a"}\r\n{"text": "b"}\r\n'
        passages, failures = read(write(tmp_path / "a.jsonl", content))
        assert [passage.text for passage in passages] == ["a", "b"]
        assert failures == []

    def test_utf16_is_named(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", '{"text": "a"}'.encode("utf-16"))
        assert "UTF-16" in read(path)[1][0].reason

    def test_nan_in_metadata_becomes_null(self, tmp_path: Path) -> None:
        line = '{"text": "a", "score": NaN, "deep": {"list": [1, Infinity]}}'
        (passage,), _ = read(write(tmp_path / "a.jsonl", line))
        assert passage.metadata == {"score": None, "deep": {"list": [1, None]}}

    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stream = io.TextIOWrapper(io.BytesIO(b'{"text": "a"}\noops\n'))
        monkeypatch.setattr(sys, "stdin", stream)
        passages, failures = read("-")
        assert [passage.text for passage in passages] == ["a"]
        assert passages[0].source == "stdin:1"
        assert [failure.item for failure in failures] == ["stdin:2"]


class TestJson:
    def test_array_of_objects_and_strings(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", '[{"title": "T", "text": "x", "idx": 3}, "y", 5]')
        passages, failures = read(path)
        assert [(p.title, p.text, dict(p.metadata)) for p in passages] == [
            ("T", "x", {"idx": 3}),
            ("", "y", {}),
        ]
        assert [failure.item for failure in failures] == [f"{path}[2]"]

    def test_titles_to_sentences_are_joined_with_nothing(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", json.dumps({"A": ["One.", " Two."], "B": []}))
        passages, failures = read(path)
        assert [(p.title, p.text) for p in passages] == [("A", "One. Two.")]
        assert [failure.item for failure in failures] == [f"{path}['B']"]

    @pytest.mark.parametrize("key", ["docs", "passages", "documents", "data", "corpus"])
    def test_object_with_a_list(self, tmp_path: Path, key: str) -> None:
        content = json.dumps({key: [{"text": "x"}], "avg": float("nan")})
        passages, failures = read(write(tmp_path / "a.json", content))
        assert ([passage.text for passage in passages], failures) == (["x"], [])

    def test_single_object(self, tmp_path: Path) -> None:
        (passage,), _ = read(write(tmp_path / "a.json", '{"title": "T", "text": "x"}'))
        assert (passage.title, passage.text) == ("T", "x")

    def test_json_lines_under_this_name(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", '{"text": "x"}\n{"text": "y"}\n')
        assert [passage.text for passage in read(path)[0]] == ["x", "y"]

    def test_items_before_the_damage_are_kept(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", '[{"text": "x"}, {"text": "y"} {"text": "z"}]')
        passages, failures = read(path)
        assert [passage.text for passage in passages] == ["x", "y"]
        assert "expected ',' or ']'" in failures[0].reason

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "empty"),
            (b"  \n ", "empty"),
            (b"[1, 2", "the end of the file"),
            (b"[1] 2", "after the end of the array"),
            (b'[{"text": "x"},]', "not JSON"),
            (b"nonsense", "not JSON"),
            (b'"text"', "expected an array or an object, got a string"),
            (b'["\xe9"]', "byte 0xe9 at byte 3 of the file"),
            (b"[" + b"9" * 5000 + b"]", "not usable JSON"),
            (b"[" * 100_000, "deeply"),
        ],
    )
    def test_damage_is_described(self, tmp_path: Path, content: bytes, reason: str) -> None:
        path = write(tmp_path / "a.json", content)
        failures = read(path)[1]
        assert failures[-1].item.startswith(str(path))
        assert reason in failures[-1].reason

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
    def test_arrays_are_read_right_for_any_chunk_size(
        self, tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts = ["a", "é🙂\ud800", "x" * 50, '"[],{}\\', "12345"]
        records = [{"text": text, "n": 12345, "f": -1.5e-7, "t": True} for text in texts]
        content = json.dumps(records, indent=1).encode() + b"  \n"
        monkeypatch.setattr("hippograph.input_files._CHUNK_BYTES", size)
        passages, failures = read(write(tmp_path / "a.json", content))
        assert failures == []
        assert [passage.text for passage in passages] == texts
        assert passages[0].metadata == {"n": 12345, "f": -1.5e-7, "t": True}

    def test_numbers_are_not_cut_at_a_chunk(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from hippograph.input_files import iterate_json

        monkeypatch.setattr("hippograph.input_files._CHUNK_BYTES", 2)
        path = write(tmp_path / "a.json", "[12345, 678, true, null]")
        assert [item for _, item in iterate_json(path)] == [12345, 678, True, None]


class TestText:
    def test_short_file_is_one_passage(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.txt", "One.\n\nTwo.\n")
        (passage,), _ = read(path)
        assert (passage.text, passage.title, passage.source) == ("One.\n\nTwo.", "", str(path))

    def test_long_file_is_one_passage_per_paragraph(self, tmp_path: Path) -> None:
        long = "word " * (WHOLE_FILE_CHARACTERS // 5)
        path = write(tmp_path / "a.txt", f"First\nline.\n\n\n{long}\n\nLast.")
        passages, failures = read(path)
        assert [p.text for p in passages] == ["First\nline.", long, "Last."]
        assert [p.source for p in passages] == [f"{path}:1", f"{path}:5", f"{path}:7"]
        assert failures == []

    def test_one_huge_paragraph_stays_whole(self, tmp_path: Path) -> None:
        (passage,), _ = read(write(tmp_path / "a.txt", "x" * 60_000))
        assert len(passage.text) == 60_000

    def test_markdown_headings_are_titles(self, tmp_path: Path) -> None:
        content = "Intro.\n\n# Alpha #\nText a.\n\n```sh\n# no heading\n\nx\n```\n## Beta\nText b."
        passages, _ = read(write(tmp_path / "a.md", content))
        assert [(p.title, p.text) for p in passages] == [
            ("", "Intro."),
            ("Alpha", "Text a."),
            ("Alpha", "```sh\n# no heading\n\nx\n```"),
            ("Beta", "Text b."),
        ]

    def test_wrong_encoding_names_the_line(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.txt", b"fine\n\ncaf\xe9\n\nfine too")
        passages, failures = read(path)
        assert [passage.text for passage in passages] == ["fine", "fine too"]
        assert [failure.item for failure in failures] == [f"{path}:3"]

    @pytest.mark.parametrize("content", ["", "\n \n\t\n"])
    def test_empty_file_is_reported(self, tmp_path: Path, content: str) -> None:
        passages, failures = read(write(tmp_path / "a.txt", content))
        assert passages == []
        assert "no text" in failures[0].reason


class TestFilesAndFolders:
    def test_folder_is_read_in_order_without_hidden_files(self, tmp_path: Path) -> None:
        write(tmp_path / "b.txt", "b")
        write(tmp_path / "a" / "z.jsonl", '{"text": "z"}')
        write(tmp_path / "a" / "deep" / "y.json", '["y"]')
        write(tmp_path / ".git" / "x.txt", "hidden")
        write(tmp_path / ".hidden.txt", "hidden")
        write(tmp_path / "photo.png", b"\x89PNG")
        passages, failures = read(tmp_path)
        assert [passage.text for passage in passages] == ["b", "z", "y"]
        assert [failure.item for failure in failures] == [str(tmp_path / "photo.png")]
        assert "unknown type of file" in failures[0].reason

    def test_the_memory_is_not_read_into_itself(self, tmp_path: Path) -> None:
        write(tmp_path / "kb" / "manifest.json", '["no passage"]')
        write(tmp_path / "a.txt", "a")
        passages, _ = read(tmp_path, exclude=[tmp_path / "kb"])
        assert [passage.text for passage in passages] == ["a"]

    def test_gzip_of_every_kind(self, tmp_path: Path) -> None:
        write(tmp_path / "a.jsonl.gz", gzip.compress(b'{"text": "a"}'))
        write(tmp_path / "b.json.gz", gzip.compress(b'["b"]'))
        write(tmp_path / "c.txt.gz", gzip.compress(b"c"))
        assert [passage.text for passage in read(tmp_path)[0]] == ["a", "b", "c"]

    def test_damaged_gzip_keeps_what_came_before(self, tmp_path: Path) -> None:
        lines = b"".join(b'{"text": "%d %s"}\n' % (n, b"%x" % hash((n, n))) for n in range(9000))
        data = gzip.compress(lines)
        passages, failures = read(write(tmp_path / "a.jsonl.gz", data[: len(data) // 2]))
        assert len(passages) > 100
        assert "gzip" in failures[-1].reason
        assert failures[-1].item == str(tmp_path / "a.jsonl.gz")

    def test_not_gzip_at_all(self, tmp_path: Path) -> None:
        passages, failures = read(write(tmp_path / "a.jsonl.gz", b'{"text": "a"}'))
        assert passages == []
        assert "gzip" in failures[0].reason

    def test_absent_input_is_an_error_before_anything_is_read(self, tmp_path: Path) -> None:
        write(tmp_path / "a.txt", "a")
        with pytest.raises(InputError, match="absent"):
            read_passages([tmp_path / "a.txt", tmp_path / "absent.jsonl"])

    def test_lines_are_streamed(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", '{"text": "a"}\n' * 3 + "oops")
        stream = read_passages([path])
        assert isinstance(next(stream), Passage)
        remaining = list(stream)
        assert len(remaining) == 3
        assert isinstance(remaining[-1], ItemFailure)
