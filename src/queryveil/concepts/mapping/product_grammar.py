"""Word lists and word order of product names, for the nine languages of the product taxonomy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

_HEAD_FIRST = {"french", "spanish", "italian", "portuguese", "polish"}
_COMPOUNDS = {"german", "dutch", "swedish"}
_JOINERS = {
    "english": "and or",
    "german": "und oder",
    "french": "et ou",
    "spanish": "y e o u",
    "italian": "e ed o",
    "dutch": "en of",
    "polish": "i oraz lub",
    "portuguese": "e ou",
    "swedish": "och eller",
}
# What follows them describes a product. Of the second list, products may follow again after "and":
# "bolsas de mano y carteras", but not "accesorios para cámaras y ópticas".
_PURPOSE = {
    "english": "for with without from",
    "german": "für fuer mit ohne aus von gegen zum zur",
    "french": "pour avec sans",
    "spanish": "para con sin",
    "italian": "per con senza",
    "dutch": "voor met zonder",
    "polish": "dla do z ze bez",
    "portuguese": "para com sem",
    "swedish": "för med utan till",
}
_OTHER_PREPOSITIONS = {
    "english": "of in to by at",
    "german": "in im an am auf bei unter über nach zu",
    "french": "de d du des à a au aux en sur",
    "spanish": "de del en a al",
    "italian": "di da d del dello della dei delle degli in a al alla allo da dal su",
    "dutch": "van op uit te",
    "polish": "na w o od",
    "portuguese": "de do da dos das em a ao no na",
    "swedish": "av på i från",
}
# Colors, materials, sizes and people: they describe a product, and name one only if alone.
_ATTRIBUTES = {
    "english": """
        black white red blue green gray pink brown beige yellow orange purple navy nude
        gold golden silver leather wool cotton linen silk cashmere velvet denim wood wooden
        metal steel stainless glass plastic bamboo ceramic foam rubber paper men mens man women
        womens woman ladies kids kid children baby boys girls adults toddler small large big
        long short thick thin mini inch cm mm ft lb kg ml size pack set piece pieces person
        automatic electric wireless outdoor indoor vintage new cheap sale gift matte
    """,
    "german": """
        kit pack
        schwarz weiß rot blau grün grau rosa braun beige gelb orange lila gold silber leder
        wolle baumwolle leinen seide kaschmir samt holz metall stahl edelstahl glas plastik
        kunststoff bambus keramik schaum gummi papier herren männer damen frauen kinder kind
        baby jungen mädchen erwachsene klein groß lang kurz dick dünn mini zoll cm mm kg ml
        größe set teile stück personen elektrisch automatik kabellos außen innen neu günstig
        geschenk matt outdoor
    """,
    "french": """
        set kit pack lot ensemble
        noir noire blanc blanche rouge bleu vert gris rose marron beige jaune orange violet or
        argent cuir laine coton lin soie cachemire velours bois métal acier inox verre plastique
        bambou céramique mousse papier homme femme enfant bébé fille garçon adulte petit grand
        long court mini pouces cm mm kg ml taille lot pièces personnes électrique automatique
        extérieur intérieur vintage neuf cadeau mat
    """,
    "spanish": """
        set kit juego lote conjunto
        negro negra blanco blanca rojo azul verde gris rosa marrón beige amarillo naranja morado
        oro plata cuero piel lana algodón lino seda cachemira terciopelo madera metal acero
        inoxidable vidrio cristal plástico bambú cerámica espuma papel hombre mujer niño niña
        niños bebé adultos pequeño grande largo corto mini pulgadas cm mm kg ml talla pack
        piezas personas eléctrico automático exterior interior nuevo regalo mate
    """,
    "italian": """
        kit confezione
        nero bianco rosso blu verde grigio rosa marrone beige giallo arancione viola oro argento
        pelle cuoio lana cotone lino seta cashmere velluto legno metallo acciaio vetro plastica
        bambù ceramica carta uomo donna bambino bambina bambini neonato adulti piccolo grande
        lungo corto mini pollici cm mm kg ml taglia set pezzi persone elettrico automatico
        esterno interno nuovo regalo
    """,
    "dutch": """
        zwart wit rood blauw groen grijs roze bruin beige geel oranje paars goud zilver leer wol
        katoen linnen zijde kasjmier fluweel hout metaal staal rvs glas plastic bamboe keramiek
        papier heren mannen dames vrouwen kinderen kind baby jongens meisjes volwassenen klein
        groot lang kort mini inch cm mm kg ml maat set stuks personen elektrisch draadloos
        buiten binnen nieuw cadeau
    """,
    "polish": """
        czarny czarna biały biała czerwony niebieski zielony szary różowy brązowy beżowy żółty
        złoto srebro skóra wełna bawełna len jedwab kaszmir drewno metal stal szkło plastik
        bambus ceramika papier męski męskie damski damskie dziecko dzieci mały duży długi krótki
        mini cali cm mm kg ml rozmiar zestaw sztuk osób elektryczny nowy prezent
    """,
    "portuguese": """
        jogo conjunto
        preto preta branco branca vermelho azul verde cinza rosa marrom bege amarelo laranja
        roxo ouro prata couro lã algodão linho seda caxemira veludo madeira metal aço inox vidro
        plástico bambu cerâmica papel homem mulher masculino feminino criança infantil bebê
        adulto pequeno grande longo curto mini polegadas cm mm kg ml tamanho kit peças pessoas
        elétrico automático novo presente
    """,
    "swedish": """
        svart vit röd blå grön grå rosa brun beige gul orange lila guld silver läder ull bomull
        linne silke kashmir sammet trä metall stål rostfri glas plast bambu keramik papper
        herr män
        dam kvinnor barn baby pojkar flickor vuxna liten stor lång kort mini tum cm mm kg ml
        storlek set delar personer elektrisk trådlös utomhus inomhus ny present
    """,
}


@dataclass(frozen=True, repr=False)
class ProductGrammar:
    """What the order of words in a language tells."""

    joiners: frozenset[str]
    purpose: frozenset[str]
    prepositions: frozenset[str]
    attributes: frozenset[str]
    head_first: bool
    compounds: bool


@cache
def product_grammar(language: str) -> ProductGrammar:
    """Return the grammar of a language; others are read as English word order."""
    known = language if language in _JOINERS else "english"
    purpose = frozenset(_PURPOSE[known].split())
    return ProductGrammar(
        joiners=frozenset({*_JOINERS[known].split(), ",", "&", "/", "+"}),
        purpose=purpose,
        prepositions=purpose | frozenset(_OTHER_PREPOSITIONS[known].split()),
        attributes=frozenset(_ATTRIBUTES[known].split()),
        head_first=known in _HEAD_FIRST,
        compounds=known in _COMPOUNDS,
    )
