"""Parquet files that are damaged: an error, whatever they do to the process that decodes them."""

from __future__ import annotations

import base64
import io
import random
import subprocess
import zlib
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.errors import FormatError, InputError, QueryveilError
from queryveil.log.readers import parquet

# A footer that makes the native reader ask for 2^61 bytes, and abort the process in which it runs.
ABORTS = zlib.decompress(base64.b85decode(
    b"c-oy+O-~a+7@l3W%XUEngc-YLqdnlJM1t*h>9&TL4CPy*Z6k`r5DVJ^p-"
    b"^oL2p2t=$iWzYf#F1q7d>#`V&c)WClV7bCWaUf9!ykD&O5tXB7wv(Y3KcT-"
    b"uIbjKAL7|E`}xCi+jhgiV;E=+C?_UQ-UnT5`t`5HpHe0vt?m~2|nM&N?WjuWj%o+qGgA~Sc1V#5hzlHhK7wngqyV"
    b"<B)4cGX}MacV3DX~OCWCqW6DteX=AH9c+^|n?2y?!ldn~KQmv|#jI+s%wyIs04S-"
    b"Xgt;S==h>%?*BtxqiJyA^H;c}s}#?|Zz<fCBhi^fy&SO%smgL9s)2ulc?U(QGf-QRuxOHd|0y#3sCmWAPGe=dT3G"
    b"Ih>k_84u7kA;*v$x(fhe^|Bo#R8Z2Ng%s|u^BM7r4vb*#4zp{V}=DSy+8;<@+{NRhDjHG>}!!DijRd9znYC;7=i{"
    b"SMm$tf$uBK%C9ec_bH+}iad0w))+%anooupfj5Ok<ywhZke|2@Jz7KHgr*{bZ<jg(XkVa&r>0}DuA^_=RU&M~*ZU"
    b"%74b9Wl?9JpB2?hQ+oa=C^T_6RPC?rXe+#&kd-;l2nzBS8t=LFsv$-sLXJb8s4nsG6>g85^Sh-"
    b">;i|RdG9c5yS>E-"
    b"bwmt9wIqVF(KPQoIu8JSwH1lAupR4%eNrDhKxN$Kjl4>Ens=AG8XbPKvY8^KLYJ==AmYq%iX+lwK_9bSj>mMi&tQ"
    b"*F7#1K2iTV;S6KWgOWl~Ku2Wj2X>POhat7*GAwNRttXBv1X&yM#XL9EWs9)m{Cr!JMYuHEu9_4PIhmS&O+UuWL99"
    b"+)x<<jFIb);TNxl6NUkEuTaIFmF)>0Kz{{mxLSHpy4+9{_ylXn!v2_j9}t!r{T#<iuzXWNogW3*eg=a`lh%{q&6h"
    b"6|)20zE)kT%sOjI@^j%!4c}g$oEV`fbR$zP<tx>2<iT2PuDsM4UMW<n^W~+m*&XYSh9lF<^Cc&27gJGl+KCs7j%g"
    b"Q*Nz;j0rk%`3Q+YGhQ!JWAJ6~{8W~T-}hx!K%Hz1T@{}g`#H&r1h"
))  # fmt: skip


def table(rows: int = 300) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(
        {
            "user": [str(n % 7) for n in range(rows)],
            "query": [f"query {n % 31}" for n in range(rows)],
            "time": [datetime(2006, 3, 1 + n % 28) for n in range(rows)],
        }
    ).write_parquet(out, row_group_size=100)
    return out.getvalue()


def test_what_aborts_the_native_reader_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    path.write_bytes(ABORTS)
    with pytest.raises(FormatError, match="damaged") as caught:
        qv.read_log(path)
    assert "again" in caught.value.hint


@pytest.mark.parametrize("seed", range(10))
def test_damaged_files_are_an_error_or_a_log(tmp_path: Path, seed: int) -> None:
    draw, data = random.Random(seed), bytearray(table())
    footer = int.from_bytes(data[-8:-4], "little")
    for _ in range(3):
        low = len(data) - 8 - footer if seed % 2 else 4
        data[draw.randrange(low, len(data) - 8)] = draw.choice([0, 127, 255, draw.randrange(256)])
    path = tmp_path / "log.parquet"
    path.write_bytes(data)
    try:
        log = qv.read_log(path, max_rejected=1)
    except QueryveilError as error:
        assert str(error)
        return
    assert log.accounting.rows == log.count() + sum(log.accounting.rejected.values())


@pytest.mark.parametrize("cut", [0, 3, 4, 11, 12, 200, -1, -4, -8])
def test_a_file_that_is_cut_off_is_not_decoded_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the footer was not looked at")

    monkeypatch.setattr(subprocess, "Popen", never)
    path = tmp_path / "log.parquet"
    path.write_bytes(table()[:cut])
    with pytest.raises(FormatError, match="damaged"):
        qv.read_log(path)


def test_a_child_that_ends_in_between_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, script = tmp_path / "log.parquet", tmp_path / "child.py"
    path.write_bytes(table())
    monkeypatch.setattr(parquet.decoding, "__file__", str(script))
    for says in ("", "no JSON", '{"rows": 5, "kinds": {"user": "text", "query": "text"}}'):
        script.write_text(f"print({says!r}, flush=True); import os; os.abort()")
        with pytest.raises(FormatError, match="damaged"):
            qv.read_log(path)


def test_more_rows_than_a_file_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    path.write_bytes(table())
    with pytest.raises(InputError, match="expands to more than 200 bytes"):
        qv.read_log(path, max_decompressed_size=200)
