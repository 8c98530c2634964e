"""Excel files for tests, written as plain XML."""

# ruff: noqa: E501  (lines of XML)

from __future__ import annotations

import io
import zipfile

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument'
    '.spreadsheetml.sheet.main+xml"/></Types>'
)
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" '
    'formatCode="dd.mm.yyyy hh:mm:ss"/></numFmts><cellXfs count="4"><xf numFmtId="0"/>'
    '<xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="14" applyNumberFormat="1"/>'
    '<xf numFmtId="21" applyNumberFormat="1"/></cellXfs></styleSheet>'
)
TIME, DATE, CLOCK = 1, 2, 3  # styles of cells
MOMENT = 46344 + (7 * 3600 + 60 + 22) / 86400  # 2026-11-18 07:01:22
Cell = str | float | tuple[int, float] | None


def book(sheets: dict[str, list[list[Cell]]], extra: str = "") -> bytes:
    """Return an Excel file; a cell with a style is a pair."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument"'
            ' Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(
            f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>'
            for at, name in enumerate(sheets, 1)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        targets = "".join(
            f'<Relationship Id="r{at}" Type="{OFFICE}/worksheet" Target="worksheets/s{at}.xml"/>'
            for at in range(1, len(sheets) + 1)
        )
        targets += f'<Relationship Id="st" Type="{OFFICE}/styles" Target="styles.xml"/>'
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{RELATIONS}">{targets}</Relationships>',
        )
        archive.writestr("xl/styles.xml", STYLES)
        for at, rows in enumerate(sheets.values(), 1):
            data = "".join(_row(number, row) for number, row in enumerate(rows, 1))
            text = f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData>{extra}</worksheet>'
            archive.writestr(f"xl/worksheets/s{at}.xml", text)
    return out.getvalue()


def _row(number: int, cells: list[Cell]) -> str:
    texts = [_cell(f"{chr(65 + at)}{number}", cell) for at, cell in enumerate(cells)]
    return f'<row r="{number}">{"".join(texts)}</row>'


def _cell(place: str, cell: Cell) -> str:  # noqa: PLR0911  (one case a type)
    if cell is None:
        return ""
    if isinstance(cell, tuple):
        return f'<c r="{place}" s="{cell[0]}"><v>{cell[1]!r}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, str) and cell.startswith("#"):
        return f'<c r="{place}" t="e"><v>{cell}</v></c>'
    if isinstance(cell, str) and cell.startswith("="):
        return f'<c r="{place}" t="str"><f>{cell[1:]}</f><v>the value</v></c>'
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'
