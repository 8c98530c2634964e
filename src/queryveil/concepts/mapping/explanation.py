"""How one query became concepts, step by step."""

from __future__ import annotations

from typing import Any

import polars as pl

from .mapper import Mapper
from .tagging import MODIFIER, NOUN, VERB

_KINDS = {NOUN: "noun", MODIFIER: "modifier", VERB: "verb"}


def explain_query(mapper: Mapper, query: str) -> dict[str, Any]:
    """Tell each step of a query's way: its words, its phrases, what was looked up and found.

    >>> from queryveil.concepts import open_taxonomy
    >>> told = explain_query(Mapper(open_taxonomy("wordnet")), "cheap hotels in paris")
    >>> [(phrase["text"], phrase["tried"], phrase["label"]) for phrase in told["phrases"]]
    [('cheap hotels', ['cheap hotels', 'hotels'], 'hotel'), ('paris', ['paris'], 'paris')]
    """
    queries = pl.Series("query", [query], dtype=pl.String)
    block = mapper.tokenize(queries)
    words = mapper.vocabulary.words.gather(block.texts.items).to_list()
    tags = mapper.tagger.names(block.texts)
    found = mapper.map(queries)
    rows = found.to_polars().with_columns(found.phrases.select("begin", "words", "matched"))
    told = [
        {
            "word": word,
            "tag": tag,
            "kind": _KINDS.get(kind, "other") if used else "stop word",
        }
        for word, tag, kind, used in zip(
            words, tags, block.kinds.tolist(), block.content.tolist(), strict=True
        )
    ]
    phrases = [_phrase(mapper, row, words, told) for row in rows.iter_rows(named=True)]
    return {"query": query, "words": told, "phrases": phrases}


def _phrase(
    mapper: Mapper, row: dict[str, Any], words: list[str], told: list[dict[str, str]]
) -> dict[str, Any]:
    begin, end = row["begin"], row["begin"] + row["words"]
    looked_up = [word for word, about in zip(words[begin:end], told[begin:end], strict=True)
                 if about["kind"] != "stop word"]  # fmt: skip
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
