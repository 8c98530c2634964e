"""The public page that follows from a card and the files beside it, as `verify` renders it."""

from __future__ import annotations

from pathlib import Path

from queryveil.methods.base import declared_parameters
from queryveil.release.cards import PublicCard
from queryveil.release.formats import read_public_log, read_public_tables
from queryveil.release.page import render_card
from queryveil.release.samples import take_samples


def draw_page(public: Path, card: PublicCard) -> str:
    samples = take_samples(read_public_log(public), read_public_tables(public))
    return render_card(card, samples, declared_parameters(card.method) or ())
