"""Explain how a query is mapped to concepts, step by step."""

from __future__ import annotations

from typing import Any

import polars as pl

from .mapper import Mapper
from .tagging import MODIFIER, NOUN, VERB

_CLASS_NAMES = {NOUN: "noun", MODIFIER: "modifier", VERB: "verb"}


def explain_query(mapper: Mapper, query: str) -> dict[str, Any]:
    """Return each step of the mapping of a query: words, phrases, lookups and matches.

    >>> from queryveil.concepts import open_taxonomy
    >>> steps = explain_query(Mapper(open_taxonomy("wordnet")), "cheap hotels in paris")
    >>> [(phrase["text"], phrase["tried"], phrase["label"]) for phrase in steps["phrases"]]
    [('cheap hotels', ['cheap hotels', 'hotels'], 'hotel'), ('paris', ['paris'], 'paris')]
    """
    queries = pl.Series("query", [query], dtype=pl.String)
    block = mapper.tokenize(queries)
    words = mapper.vocabulary.words.gather(block.texts.items).to_list()
    tags = mapper.tagger.names(block.texts)
    mapping = mapper.map(queries)
    rows = mapping.to_polars().with_columns(mapping.phrases.select("begin", "words", "matched"))
    word_steps = [
        {
            "word": word,
            "tag": tag,
            "kind": _CLASS_NAMES.get(word_class, "other") if is_content else "stop word",
        }
        for word, tag, word_class, is_content in zip(
            words, tags, block.kinds.tolist(), block.content.tolist(), strict=True
        )
    ]
    phrases = [
        _explain_phrase(mapper, row, words, word_steps) for row in rows.iter_rows(named=True)
    ]
    return {"query": query, "words": word_steps, "phrases": phrases}


def _explain_phrase(
    mapper: Mapper, row: dict[str, Any], words: list[str], word_steps: list[dict[str, str]]
) -> dict[str, Any]:
    begin, end = row["begin"], row["begin"] + row["words"]
    looked_up = [word for word, step in zip(words[begin:end], word_steps[begin:end], strict=True)
                 if step["kind"] != "stop word"]  # fmt: skip
    last = len(looked_up) - row["matched"] if row["concept"] is not None else len(looked_up) - 1
    taxonomy, concept = mapper.taxonomy, row["concept"]
    return {
        "text": row["phrase"],
        "concept": row["name"],
        "label": row["label"],
        "tried": [" ".join(looked_up[start:]) for start in range(last + 1)],
        "how": row["how"],
        "second_try": row["loose"],
        "ancestors": []
        if concept is None
        else [taxonomy.label(c) for c in taxonomy.ancestors(concept).tolist()],
    }
