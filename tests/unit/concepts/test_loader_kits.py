"""Every built-in taxonomy loader passes the kit for loaders."""

from __future__ import annotations

import pytest

from queryveil.concepts.loaders.odp import ODP
from queryveil.concepts.loaders.paths import PATHS
from queryveil.concepts.loaders.skos import SKOS
from queryveil.concepts.loaders.table import TABLE
from queryveil.testing import KitCheck, TaxonomySample, taxonomy_loader_checks

STRUCTURE = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/"
 xmlns="http://dmoz.org/rdf/">
<Topic r:id="Top"><catid>1</catid><narrow r:resource="Top/Arts"/></Topic>
<Topic r:id="Top/Arts"><catid>2</catid><narrow r:resource="Top/Arts/Music"/></Topic>
<Topic r:id="Top/Arts/Music"><catid>3</catid></Topic>
</RDF>
"""
CONTENT = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/"
 xmlns="http://dmoz.org/rdf/">
<ExternalPage about="http://reeds.example/"><d:Title>Reeds</d:Title>
<d:Description>Oboes and reeds.</d:Description><topic>Top/Arts/Music</topic></ExternalPage>
</RDF>
"""
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://shop.example/> .
:home a skos:Concept ; skos:prefLabel "home"@en, "Heim"@de .
:hose a skos:Concept ; skos:prefLabel "hose"@en, "Schlauch"@de ; skos:broader :home .
"""
PARENTS = {"hose": {"garden"}, "garden": {"home"}}
CYCLE = "parent,child\na,b\nb,a\n"

CHECKS = [
    *taxonomy_loader_checks(TABLE, [
        TaxonomySample({"shop.csv": "parent,child\nhome,garden\ngarden,hose\n"}, PARENTS, [CYCLE]),
        TaxonomySample(
            {"odd.csv": "von,nach\nhome,garden\n"},
            {"garden": {"home"}},
            ["x,y\n1,2\n"],
            {"columns": "parent=von,child=nach"},
        ),
    ]),
    *taxonomy_loader_checks(PATHS, [
        TaxonomySample(
            {"shop.txt": "home/garden/hose\tA hose for the garden\nhome/kitchen\n"},
            PARENTS | {"kitchen": {"home"}},
            [b"home/\xff\xfe/garden\n"],
        ),
    ]),
    *taxonomy_loader_checks(SKOS, [
        TaxonomySample({"shop.ttl": TURTLE}, {"hose": {"home"}}, ["@prefix"]),
        TaxonomySample(
            {"shop.ttl": TURTLE}, {"Schlauch": {"Heim"}}, options={"label_language": "de"}
        ),
    ]),
    *taxonomy_loader_checks(ODP, [
        TaxonomySample(
            {"structure.rdf.u8": STRUCTURE, "content.rdf.u8": CONTENT},
            {"Music": {"Arts"}},
            ["<RDF><Topic", "no dump at all"],
        ),
    ]),
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
