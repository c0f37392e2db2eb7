"""Stop words: words of questions and sentences that say nothing about a topic, by language.

The keyword list ignores them, as it would rank documents by how often they say "how"; the vector is that of
the whole question. Lists are short: articles, pronouns, auxiliaries, prepositions, conjunctions, words that
ask. In documentation many of them are names as well (``:has``, ``for...of``, ``if let``), so they are ignored
only where they are written as words, and only while something else is asked for: of a question ("what is a
vault") one word, of anything else two ("for loop").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .analyzer import fold, primary_language, without_accents

_WORDS = {
    "en": """a an the this that these those some any each every i me my we us our you your he him his she
        her it its they them their what which who whom whose when where why how am is are was
        were be been being do does did doing have has had having can could will would shall
        should may might must of to in on at by for from with as and or but if than then into
        about there here so such too very just also""",
    "de": """der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem ich
        mich mir wir uns du dich dir ihr euch er ihn ihm sie es mein dein sein unser was wer
        wen wem wessen welcher welche welches wann wo warum wieso wie ist sind war waren bin
        bist sein gewesen wird werden wurde wurden habe hat haben hatte kann können könnte
        soll sollte muss müssen darf von zu zum zur in im an am auf bei mit aus nach für und
        oder aber wenn dass als so auch man""",
    "fr": """le la les l un une des du de d ce cet cette ces je me moi nous tu te vous il elle on ils elles
        lui leur mon ma mes ton ta tes son sa ses notre votre que qui quoi quel quelle quels
        quelles quand où pourquoi comment est sont était étaient être été suis a ont avoir
        avait peut peuvent doit faut à au aux en dans sur par pour avec et ou mais si comme ne
        pas se c s y""",
    "es": """el la los las un una unos unas lo este esta estos estas ese esa eso yo me mi nosotros nos tú
        te tu usted él ella ellos ellas le les su sus que qué quién cuál cuáles cuándo dónde
        cómo es son era ser estar está están fue ha han haber puede pueden puedo debe hay de
        del a al en con por para y o pero si como se no""",
    "it": """il lo la i gli le un uno una l questo questa questi queste quello io mi noi ci tu ti voi vi
        lui lei loro suo sua che chi cosa quale quali quando dove perché come è sono era
        essere stato ha hanno avere può possono posso deve di del della dei delle a al alla da
        dal in nel nella con su per e o ma se si non""",
    "pt": """o a os as um uma uns umas este esta estes estas esse isso eu me meu minha nós nos tu te você
        vocês ele ela eles elas lhe seu sua que quem qual quais quando onde como por porque é
        são era ser estar está foi há tem têm ter pode podem posso deve de do da dos das em no
        na nos nas com para e ou mas se não ao à""",
    "nl": """de het een deze dit die dat ik mij me wij we ons je jij u jullie hij zij ze hem haar hun mijn
        jouw zijn wat wie welke wanneer waar waarom hoe is zijn was waren ben wordt worden
        heeft hebben had kan kunnen kon moet moeten mag van te in op aan bij met uit naar voor
        en of maar als dan er zo ook""",
}
# What a question begins with, and what else it says besides what it is about.
_QUESTION_WORDS = {
    "en": """how what which who whom whose when where why is are was were am do does did can could will would
        shall should may might way ways possible""",
    "de": """wie was wer wen wem wessen welcher welche welches wann wo warum wieso ist sind war waren kann
        können könnte soll sollte""",
    "fr": "que quoi quel quelle quels quelles quand où pourquoi comment qui est sont peut",
    "es": "qué quién cuál cuáles cuándo dónde cómo que como es son puede puedo hay",
    "it": "che chi cosa quale quali quando dove perché come è sono può posso",
    "pt": "que quem qual quais quando onde como é são pode posso há",
    "nl": "wat wie welke wanneer waar waarom hoe is zijn kan kunnen kon moet mag",
}
# One word alone may be part of a name: "for loop", "if else".
_LEAST_LEFT = 2
_LEAST_OF_A_QUESTION = 1
_WRITTEN_AS_A_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?[,;:.?!]*")


def without_stop_words(text: str, languages: Iterable[str]) -> str:
    """Return a query without its stop words, or as it is if too few words were left.

    A question begins with one that asks and a stop word after it, as "is there a way to" does.
    """
    languages = tuple(languages)
    ignored = frozenset[str]().union(*map(stop_words, languages))
    asking = frozenset[str]().union(*map(question_words, languages))
    words = [(word, _bare(word) if _is_word(word) else "") for word in text.split()]
    begin = [bare for _, bare in words[:2]]
    asks = len(begin) == 2 and begin[0] in asking and begin[1] in ignored | asking
    kept = [word for word, bare in words if bare not in (ignored | asking if asks else ignored)]
    least = _LEAST_OF_A_QUESTION if asks else _LEAST_LEFT
    return " ".join(kept) if len(set(map(_bare, kept))) >= least else text


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, without accents; none for a language without a list."""
    return _listed(_WORDS, language)


@lru_cache(maxsize=64)
def question_words(language: str) -> frozenset[str]:
    """Return the words that questions begin with, and those that are ignored in them, without accents."""
    return _listed(_QUESTION_WORDS, language)


def _listed(lists: Mapping[str, str], language: str) -> frozenset[str]:
    return frozenset(map(without_accents, lists.get(primary_language(language), "").split()))


def _is_word(word: str) -> bool:
    return _WRITTEN_AS_A_WORD.fullmatch(word) is not None


def _bare(word: str) -> str:
    return without_accents(fold(word.rstrip(",;:.?!")).replace("’", "'"))
