"""Which of two classes is meant by "positive", where their names leave no doubt: in several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

#: positive/negative, in any case, with or without accents; an underscore stands for a space or a hyphen.
_PAIRS = """
    yes/no y/n ja/nein j/n oui/non o/n si/no s/n sim/nao ja/nee ja/nej ja/nei tak/nie t/n ano/ne da/nu da/ne kylla/ei
    igen/nem evet/hayir ya/tidak co/khong да/нет да/не так/ні ναι/οχι はい/いいえ 是/否 有/无 有/無
    예/아니오 نعم/لا כן/לא हाँ/नहीं
    true/false t/f wahr/falsch vrai/faux verdadero/falso vero/falso verdadeiro/falso waar/onwaar sant/falskt
    prawda/falsz
    positive/negative pos/neg p/n +/- positiv/negativ positif/negatif positivo/negativo positief/negatief
    dodatni/ujemny 阳性/阴性 陽性/陰性
    case/control cases/controls patient/control patients/controls case/ctrl fall/kontrolle patient/kontrolle cas/temoin
    cas/controle caso/control caso/controllo caso/controle geval/controle fall/kontroll 病例/对照
    disease/healthy diseased/healthy sick/healthy ill/healthy patient/healthy disease/control disease/normal sick/well
    unhealthy/healthy affected/unaffected infected/uninfected infected/healthy exposed/unexposed
    krank/gesund malade/sain enfermo/sano malato/sano doente/saudavel ziek/gezond sjuk/frisk syg/rask syk/frisk
    chory/zdrowy nemocny/zdravy
    dead/alive died/alive deceased/alive death/alive dead/living dead/survived died/survived death/survival
    died/lived deceased/survived expired/alive non_survivor/survivor nonsurvivor/survivor
    tot/lebend tot/lebendig tot/am_leben verstorben/lebend
    verstorben/uberlebt gestorben/uberlebt mort/vivant decede/vivant muerto/vivo fallecido/vivo morto/vivo deceduto/vivo
    obito/vivo dood/levend overleden/levend dod/levande dod/levende
    malignant/benign m/b maligne/benigne malin/benin maligno/benigno bosartig/gutartig maligne/benin
    kwaadaardig/goedaardig
    cancer/normal cancer/healthy cancer/control cancer/benign tumor/normal tumour/normal tumor/healthy krebs/gesund
    abnormal/normal anormal/normal anormale/normale auffallig/unauffallig pathologic/normal pathological/normal
    pathologisch/normal
    present/absent presence/absence vorhanden/nicht_vorhanden presente/ausente event/censored observed/censored
    spam/ham fraud/legitimate fraud/genuine attack/benign anomaly/normal defect/ok defective/ok
"""
#: X against "no X", unless X is the negative side of a pair itself: "not healthy" is not the negative of "healthy".
_NEGATIONS = """
    no not non without kein keine keinen nicht ohne sans pas_de sin senza sem nao geen niet zonder ikke ingen uten uden
    inte utan bez nie не без
"""


def obvious_positive(classes: Sequence[Any]) -> Any:
    """Return the positive one of two classes where their names leave no doubt, such as 1/0, yes/no, case/control.

    Parameters
    ----------
    classes : sequence of two labels
        In any order. With more or fewer than two there is no positive class.

    Returns
    -------
    label or None
        None where a person has to say it.

    Examples
    --------
    >>> obvious_positive(["ja", "nein"]), obvious_positive(["Relapse", "no relapse"]), obvious_positive(["A", "B"])
    ('ja', 'Relapse', None)
    """
    if len(classes) != 2:
        return None
    orders = tuple(classes), tuple(classes[::-1])
    for is_obvious in (_are_numbers, _are_known, _is_negation):
        for positive, negative in orders:
            if is_obvious(positive, negative):
                return positive
    return None


def _are_numbers(positive: Any, negative: Any) -> bool:
    try:
        return float(positive) == 1 and float(negative) in (0, -1)
    except (TypeError, ValueError):
        return False


def _are_known(positive: Any, negative: Any) -> bool:
    return (_plain(positive), _plain(negative)) in _KNOWN


def _is_negation(positive: Any, negative: Any) -> bool:
    word = _plain(positive)
    return (
        len(word) > 2
        and word not in _NEGATIVES
        and _plain(negative) in {f"{no}_{word}" for no in _NOT} | {f"non{word}"}
    )


def _plain(label: Any) -> str:
    """Write a label without case, accents and outer spaces, inner spaces and hyphens as underscores."""
    text = unicodedata.normalize("NFKD", str(label).strip().casefold()).translate(_LETTERS)
    return re.sub(r"[\s_-]+", "_", "".join(c for c in text if not unicodedata.combining(c)))


_LETTERS = str.maketrans("ıłøđ", "ilod")  # letters whose strokes and dots are no accents
_KNOWN = frozenset((_plain(a), _plain(b)) for a, b in (pair.split("/") for pair in _PAIRS.split()))
_NEGATIVES = frozenset(negative for _, negative in _KNOWN)
_NOT = frozenset(map(_plain, _NEGATIONS.split()))
