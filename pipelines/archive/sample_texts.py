"""Invented English and Chinese text for the sample archive: sentences from templates and word lists.

A pool of sentences is built once for each language and drawn from afterwards: texts of any length cost one call, and
no two long ones are alike. Nothing here is taken from a published archive.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Literal

Language = Literal["en", "zh"]

_TEMPLATES: dict[Language, tuple[str, ...]] = {
    "en": (
        "{name} told {name2} that the {adj} {noun} near {place} was {done} {n} {unit} before the {noun2}. ",
        "On {day} {month} the {noun} of {place} {verb} {n2} {adj} {noun2}s, and {name} kept the record. ",
        "If the {noun} fails, {name} would rather {act} the {adj} {noun2} than wait {n} {unit}. ",
        "The {adj} {noun} in {place} differs from the {noun2}: it was {done} by {name}, not by {name2}. ",
        "In {month} we {verb} {n} {noun}s; the {adj2} {noun2} explains most of the gap of {n2} {unit}. ",
        "Why did {name} {act} the {noun} at {place} and leave the {adj} {noun2} to {name2}? ",
        "A {noun} that is {adj} and {adj2} needs {n} {unit}, which {name} calls the rule of {place}. ",
        '{name} says: "I would {act} the {noun2} again, even {n} {unit} from {place}." ',
        "Note {n}: the {noun} was {done}, the {noun2} stayed {adj}, and {place} asked for {n2} more. ",
        "Neither {name} nor the {adj} {noun} of {place} could {act} what {name2} had {done}.\n",
    ),
    "zh": (
        "{name}说，{place}的{adj}{noun}在{n}{unit}之前已经{done}，{noun2}却没有变化。",
        "{month}{day}日，{name}在{place}{verb}了{n2}份{adj}{noun}，并由{name2}登记在册。",
        "如果{noun}失去效力，{name}宁愿{verb}{adj}{noun2}，也不愿再等{n}{unit}。",
        "{place}的{noun}与{noun2}不同：前者由{name}{verb}，后者由{name2}{done}。",
        "关于{adj}{noun}的争议，双方在{place}协商了{n}{unit}，最终{verb}了{noun2}。",
        "为什么{name}要在{month}{verb}{noun}，而把{adj}{noun2}留给{name2}？",
        "经查，{noun}共{n}项，其中{n2}项{done}，其余与{place}的{noun2}有关。",
        "{name}认为{adj}{noun}应当优先，{noun2}应当由{place}在{n}{unit}内{verb}。\n",
    ),
}

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "noun": (
            "harbour ledger orchard bridge lantern survey garden archive signal kettle violin meadow treaty clock "
            "engine glacier market notebook parcel quarry rehearsal station theorem umbrella village workshop atlas "
            "beacon canal diary estuary ferry granary hedge inlet journal kiln library mosaic nursery observatory "
            "pavilion reservoir sextant tunnel vineyard windmill almanac barometer charter dialogue experiment"
        ),
        "adj": (
            "quiet brittle patient uneven amber narrow hollow distant careful crowded gentle restless weathered sudden "
            "formal borrowed cheerful damp early faint generous honest idle keen luminous modest nimble ordinary pale "
            "rural silver tidy unfamiliar vivid wary"
        ),
        "verb": (
            "measured traded repaired counted sorted painted borrowed compared drafted exchanged filed gathered "
            "labelled mapped numbered outlined printed revised sketched tested translated weighed"
        ),
        "done": (
            "rebuilt forgotten catalogued abandoned restored measured postponed inspected moved flooded rewired "
            "sealed opened described doubled halved insured lent mended named"
        ),
        "act": (
            "repair describe keep sell move measure remember question replace photograph insure bury copy defend "
            "draw explain finish guard hide inspect"
        ),
        "unit": "days weeks metres pages hours miles minutes seasons steps litres",
        "month": "January February March April May June July August September October November December",
    },
    "zh": {
        "noun": (
            "合同 证据 账册 花园 桥梁 图书 协议 渡口 果园 信件 仓库 "
            "计划 报告 土地 房屋 货物 论文 记录 条款 赔偿 借款 实验 剧本 "
            "航线 档案 钟楼 集市 水库 学校 规则 方案 样本 手稿 登记 保险 运输 租约 研究 意见 地图"
        ),
        "adj": "安静的 完整的 陈旧的 狭窄的 清楚的 合理的 有效的 简短的 公开的 遥远的 谨慎的 普通的 新近的 共同的",
        "verb": "签订 整理 修复 审查 转让 登记 说明 补充 归还 核对 测量 抄写 保存 解除 讨论 翻译 估算",
        "done": "完成 登记 取消 修复 移交 公布 延期 核实 作废 归档 补正 提前履行",
        "unit": "天 周 个月 小时 年 页 公里 次",
        "month": "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",
    },
}

_SYLLABLES = (
    "ba bel cor da dren el fa fen gar hal il jo ka lem lo mar mi na nor ol pe pra quin ra ros sa sel ta tor ul "
    "va ven wil xan yor ze"
)
_SURNAMES = "陆苏顾沈韩程方贺蒋梁孟秦唐许叶"
_GIVEN = "安柏川冬帆歌禾嘉可岚明宁平青然书舟文希远云泽知竹"
_PLACES = "东西南北青白云石河山溪林泉桥"
_PLACE_ENDS_EN = ("ford", "ton", "mere")
_PLACE_ENDS_ZH = ("镇", "县", "湾", "岭", "渡", "里")


class _Draws(dict[str, str]):
    """Fills a template: each key draws a word of its kind, digits at its end only tell two of a kind apart."""

    def __init__(self, rng: Random, words: dict[str, tuple[str, ...]]) -> None:
        super().__init__()
        self._rng = rng
        self._words = words

    def __missing__(self, key: str) -> str:
        kind = key.rstrip("0123456789")
        if kind == "day":
            return str(self._rng.randint(1, 28))
        if kind == "n":
            return str(self._rng.randrange(2, 400))
        return self._rng.choice(self._words[kind])


@lru_cache(maxsize=8)
def _names(language: Language, seed: int) -> dict[str, tuple[str, ...]]:
    rng = Random(f"{seed}/names/{language}")
    if language == "zh":
        names = {rng.choice(_SURNAMES) + "".join(rng.choices(_GIVEN, k=rng.choice((1, 2)))) for _ in range(400)}
        places = {"".join(rng.sample(_PLACES, 2)) + rng.choice(_PLACE_ENDS_ZH) for _ in range(200)}
    else:
        syllables = _SYLLABLES.split()
        names = {"".join(rng.choices(syllables, k=rng.choice((2, 3)))).title() for _ in range(600)}
        places = {"".join(rng.choices(syllables, k=2)).title() + rng.choice(_PLACE_ENDS_EN) for _ in range(400)}
    # Sorted, because the order of a set is another one in every process.
    return {"name": tuple(sorted(names)), "place": tuple(sorted(places))}


@lru_cache(maxsize=8)
def sentence_pool(language: Language, size: int, seed: int) -> tuple[str, ...]:
    """`size` sentences of a language, the same for the same seed; each ends with what separates it from the next."""
    rng = Random(f"{seed}/sentences/{language}")
    words = {kind: tuple(text.split()) for kind, text in _WORDS[language].items()} | _names(language, seed)
    return tuple(rng.choice(_TEMPLATES[language]).format_map(_Draws(rng, words)) for _ in range(size))


class Writer:
    """Draws texts of one language from its pool of sentences; all randomness comes from the caller's generator."""

    def __init__(self, language: Language, pool_size: int, seed: int) -> None:
        self.language: Language = language
        self._pool = sentence_pool(language, pool_size, seed)
        self._names = _names(language, seed)["name"]
        self._mean_chars = sum(map(len, self._pool)) / len(self._pool)

    def sentences(self, rng: Random, count: int) -> str:
        """`count` sentences in a random order, without the separator at the end."""
        return "".join(rng.choices(self._pool, k=count)).rstrip()

    def text(self, rng: Random, chars: int) -> str:
        """About `chars` characters, never more, cut where the length is reached as a retriever cuts."""
        if chars <= 0:
            return ""
        return "".join(rng.choices(self._pool, k=int(chars / self._mean_chars * 1.05) + 2))[:chars]

    def name(self, rng: Random) -> str:
        """The name of an invented person."""
        return rng.choice(self._names)
