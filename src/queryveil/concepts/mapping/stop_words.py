"""Stop words: words without a meaning of their own, by language.

Common lists of stop words hold words that users search for ("home", "Zeit", "parte"). These lists
are written by hand and have articles, pronouns, prepositions, conjunctions and auxiliary verbs.
"""

from __future__ import annotations

ENGLISH = """
a about above across after again against all along also am among an and another any anyone
anything are around as at away back be because been before behind being below beneath beside
between beyond both but by can cannot could did do does doing done down during each either else
ever every everyone everything for from get had has have having he her here hers herself him
himself his how i if im in into is isnt it its itself just let like many may me might mine more
most much must my myself near neither never no nor not of off on once one only onto or other our
ours ourselves out over own per please same shall she should since so some someone something
such than that the their theirs them themselves then there these they this those though through
thru to too toward towards under until up upon us very via vs was wasnt we were what whatever
when where wherever whether which while who whom whose why will with within without would you
your yours yourself dont doesnt didnt cant wont ive youre whats theres thats
"""
GERMAN = """
ab aber alle allem allen aller alles als also am an ander andere anderen anderer anderes ans auch
auf aus außer außerhalb bei beim bin bis bist bzw da dabei dadurch dafür damit danach dann daran
darauf darf darüber das dass daß dazu dein deine deinem deinen deiner dem den denen denn der deren
des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem
einen einer eines er es etc etwas euch euer eure für gegen gibt habe haben hat hatte hatten hier
hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins inkl ist ja je jede jedem jeden jeder
jedes jetzt kann kannst kein keine keinem keinen keiner können könnte man mehr mein meine meinem
meinen meiner mich mir mit muss müssen nach neben nicht nichts noch nun nur ob oder ohne pro per
sehr sein seine seinem seinen seiner seit sich sie sind so soll sollte sonst sowie trotz über um
und uns unser unsere unter usw vom von vor wann war waren warum was wegen weil welche welchem
welchen welcher welches wenn wer werden wie will wir wird wo woher wohin wurde wurden zu zum zur
zwischen wieviel
"""
FRENCH = """
a à afin ai ainsi alors après as au aucun aucune aussi autre autres aux avant avec avez avoir avons
c ça car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment contre d
dans de depuis dernière derrière des dès devant doit donc dont du durant elle elles en encore entre
es est et été êtes être eu eux fait font hors ici il ils j je jusqu jusque l la là laquelle le
lequel les lesquelles lesquels leur leurs lors lorsque lui m ma mais me même mêmes mes moi mon n ne
ni non nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus plusieurs pour
pourquoi près puis qu quand que quel quelle quelles quelque quelques quels qui quoi s sa sans sauf
se selon sera ses si soi sois soit son sont sous suis sur t ta te tes toi ton tous tout toute
toutes très tu un une vers via voici voilà vos votre vous y
"""
SPANISH = """
a acá ahí al algo algún alguna algunas alguno algunos allá allí ante antes aquel aquella aquellas
aquello aquellos aquí así aún aunque bajo cada casi como cómo con contigo contra cual cuál cuales
cuáles cualquier cuando cuándo cuanta cuánta cuanto cuánto cuyo de del desde después donde dónde
durante e el él ella ellas ellos en entonces entre era eran es esa esas ese eso esos está están
esta estas este esto estos fue fueron ha había han has hasta hay he la las le les lo los más me mi
mí mis mucho muchos muy ni ningún ninguna no nos nosotros nuestra nuestras nuestro nuestros o os
otra otras otro otros para pero poco por porqué porque puede pueden pues que qué quien quién
quienes se sea según ser si sí sido sin sino sobre son su sus también tan tanto te tiene tienen
toda todas todo todos tras tu tú tus u un una unas uno unos usted ustedes vía vosotros y ya yo
"""
ITALIAN = """
a ad agli ai al alla alle allo anche ancora avere c che chi ci ciò coi col come con contro cui d da
dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di dopo dove durante e è ed
era erano essere fa fino fra fuori gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me
mentre mi mia mie miei mio molto ne negli nei nel nella nelle nello no noi non nostra nostro o ogni
oltre per perché però più poi presso può qual quale quali quando quanta quanto quella quelle quelli
quello questa queste questi questo qui quindi s sarà se sei senza si sia siamo sono sopra sotto su
sua sue sugli sui sul sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi tutta tutte tutti
tutto un una uno v verso vi via voi vostra vostro
"""
DUTCH = """
aan achter af al alle alleen allemaal als altijd andere ben bent bij binnen boven daar dan dat de
deze die dit doen door dus een eens elk elke en er etc geen geweest haar had hadden heb hebben hebt
heeft hem hen het hier hij hoe hoeveel hun iets ik in is ja je jij jou jouw jullie kan kun kunnen
maar me meer men met mij mijn moet moeten na naar naast niet niets nog nu of om omdat onder ons
onze ook op over per rond sinds te tegen ten ter tijdens toch toen tot tussen u uit uw van vanaf
vanuit veel via volgens voor waar waarom wanneer want was wat we wel welk welke werd werden wie wij
wil word worden wordt zal ze zelf zich zij zijn zo zoals zonder zou
"""
PORTUGUESE = """
a à ao aos aquela aquelas aquele aqueles aquilo as às assim até cada com como contra cujo da das de
dela dele deles depois desde dessa desse desta deste disso do dos durante e é ela elas ele eles em
entre era essa essas esse esses esta está estas estão este estes eu foi foram há isso isto já la
lhe lhes lo mais mas me mesmo meu meus minha minhas muito muitos na nas não nem nenhum nenhuma no
nos nós nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos por
porque pra qual quais quando quanto que quê quem se sem ser será seu seus só sob sobre sua suas
também tão te tem têm ter teu toda todas todo todos tu tua tudo um uma umas uns você vocês vos
"""
POLISH = """
a aby albo ale ani aż bardzo bez bo by być był była było były będzie będą ci cię co coś czemu czy
czyli dla dlaczego do gdy gdzie go i ich ile im inne inny innych ja jak jaka jaki jakie jako je jego
jej jemu jest jestem jeśli jeszcze już kiedy kto która które którego której który których którym ku
lub ma mają mam mi mną mnie moja moje mój mu my na nad nam nami nas nasz nasza nasze nawet nic nich
nie niej nim niż no o obok od on ona one oni ono oraz po pod poza przed przez przy są się sobie
swoje ta tak także tam te tego tej ten też to tobie tu tutaj twoja twoje twój ty tych tylko tym u w
wam was we wśród wszystkie wszystko więc z za ze że żeby
"""
SWEDISH = """
alla allt att av bakom bara bland de dem den denna deras dess dessa det detta dig din dina ditt där
då efter eftersom ej eller en enligt er era ett framför från för före genom ha hade han hans har
hela hennes hon honom hos hur här i icke in inga ingen inget innan inom inte ja jag kan kunna man
med medan mellan men mer mest mig min mina mitt mot mycket ned ni nog nu när någon något några när
och också om oss på sedan sig sin sina sitt ska skall som så sådan såsom till under upp ur ut utan
vad var vara varför vars vart vem vi via vid vilka vilken vilket vår våra vårt är över åt än
"""
DANISH = """
ad af alle alt anden andet at bag blev blive bliver da de dem den denne der deres det dette dig din
dine disse dit dog du efter eller en er et for foran fra før gennem han hans har havde have hende
hendes her hos hun hvad hvem hver hvilken hvilket hvis hvor hvordan hvorfor hvornår i igen ikke imod
ind inden ingen intet jeg jer kan kun kunne man mange med meget mellem men mere mig min mine mit mod
ned nede nej nogen noget nogle nu når og også om omkring op os over på samt selv sig sin sine sit
skal skulle som så sådan til ud uden under vaere var ved vi via vil ville vor være
"""
LISTS = {
    "english": ENGLISH,
    "german": GERMAN,
    "french": FRENCH,
    "spanish": SPANISH,
    "italian": ITALIAN,
    "dutch": DUTCH,
    "portuguese": PORTUGUESE,
    "polish": POLISH,
    "swedish": SWEDISH,
    "danish": DANISH,
}
