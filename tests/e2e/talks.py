"""What is said in the journeys, in the languages of the window: a garden and its pump."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """A question and its answer."""

    question: str
    answer: str
    thinking: str = ""

    @property
    def pieces(self) -> tuple[str, ...]:
        """The answer as a model would write it: a few letters at a time."""
        return tuple(self.answer[at : at + 3] for at in range(0, len(self.answer), 3))


@dataclass(frozen=True)
class Talk:
    """A conversation of six turns.

    `needle` stands in the first answer and in no other; `with_code` is the answer with a block of
    code; `reworded` is the first question in other words; `starter` are questions to a model that
    answers as it likes.
    """

    turns: tuple[Turn, ...]
    needle: str
    reworded: str
    with_code: int
    starter: tuple[str, ...]

    @property
    def first(self) -> Turn:
        return self.turns[0]


ENGLISH = Talk(
    turns=(
        Turn(
            "How much water does a tomato plant need?",
            """About **1.5 litres a day** while it grows, and up to **3 litres** once it bears fruit. What \
matters more than the amount is that it comes evenly: a plant that dries out and is then drowned \
splits its fruit.

- *Young plants:* half a litre, every day, close to the stem.
- *In flower:* 1.5 litres, every second day is enough in clay soil.
- *With fruit:* 2 to 3 litres; mulch saves about a third of it.

Stick a finger into the soil. If it is dry at 5 cm, water today.""",
        ),
        Turn(
            "Make a table for tomatoes, beans and lettuce.",
            """Per plant, on a dry day of 25 °C:

| Plant | Litres a day | Every | Best time |
|---|---:|---|---|
| Tomato | 2.0 | day | morning |
| Runner bean | 1.2 | day | morning |
| Bush bean | 0.8 | second day | any |
| Lettuce | 0.4 | day | evening |

Over 30 °C, add half as much again.""",
        ),
        Turn(
            "Write a Python function that tells how long the pump has to run.",
            """The pump gives litres a minute, the bed needs litres a day:

```python
def pump_minutes(plants: dict[str, int], litres_per_minute: float = 6.0) -> float:
    \"\"\"Minutes the pump runs for these plants on a dry day.\"\"\"
    needs = {"tomato": 2.0, "runner bean": 1.2, "bush bean": 0.8, "lettuce": 0.4}
    litres = sum(needs[name] * count for name, count in plants.items())
    return round(litres / litres_per_minute, 1)  # half a minute more does no harm


print(pump_minutes({"tomato": 8, "lettuce": 20}))  # 4.0
```

An unknown plant raises `KeyError`, which is better than a dry bed.""",
        ),
        Turn(
            "And if it rained 6 mm last night?",
            """One millimetre of rain is one litre on a square metre, so 6 mm on your 4 m² bed are

$$6 \\cdot 4 = 24 \\text{ litres}$$

> Rain that falls fast runs off. Count only half of a thunderstorm.

The bed needs `24.0` litres a day, so **leave the pump off today** and look again tomorrow. The \
[rain gauge page](https://example.org/rain) tells how to measure it.""",
        ),
        Turn(
            "Give me a checklist for the first week.",
            """### First week

1. Monday
   - [x] Flush the hose
   - [ ] Measure the pump: fill a bucket, take the time
2. Wednesday
   - [ ] Look for dry corners
   - [ ] Mulch the tomatoes
3. Sunday
   - [ ] Write down what was used
   - [ ] Change `litres_per_minute` if the bucket says so""",
        ),
        Turn(
            "Is it better to water in the evening?",
            "In the morning, mostly. Leaves that stay wet all night catch blight. Lettuce is the "
            "exception: it drinks at night and its leaves dry fast. 🍅",
            "They ask about the time of day. Wet leaves at night favour fungi. The table says "
            "evening for lettuce, so I should explain that it is no contradiction.",
        ),
    ),
    needle="mulch saves",
    reworded="How much water do four tomato plants need?",
    with_code=2,
    starter=(
        "What is a garden?",
        "Write a Python function that adds two numbers.",
        "Make a table of three fruits and their colours.",
        "Which of them is yellow?",
        "Say it in one word.",
        "Thank you.",
    ),
)

CHINESE = Talk(
    turns=(
        Turn(
            "一株番茄每天需要多少水？",
            """生长期大约**每天 1.5 升**，结果以后最多 **3 升**。比水量更重要的是均匀：先旱后涝，果实会裂开。

- 幼苗：半升，每天浇，靠近茎部。
- 开花期：1.5 升，黏土隔天浇即可。
- 结果期：2 到 3 升；覆盖稻草能省三分之一。

把手指插进土里，5 厘米深处是干的，今天就浇水。""",
        ),
        Turn(
            "给番茄、豆角和生菜做一张表。",
            """每株用量，按 25 °C 的晴天计算：

| 作物 | 每天（升） | 间隔 | 时间 |
|---|---:|---|---|
| 番茄 | 2.0 | 每天 | 早晨 |
| 豆角 | 1.2 | 每天 | 早晨 |
| 四季豆 | 0.8 | 隔天 | 任意 |
| 生菜 | 0.4 | 每天 | 傍晚 |

超过 30 °C 时再加一半。""",
        ),
        Turn(
            "写一个 Python 函数，算出水泵要开多久。",
            """水泵按每分钟多少升供水，菜地按每天多少升需水：

```python
def pump_minutes(plants: dict[str, int], litres_per_minute: float = 6.0) -> float:
    \"\"\"晴天时水泵要运行的分钟数。\"\"\"
    needs = {"番茄": 2.0, "豆角": 1.2, "四季豆": 0.8, "生菜": 0.4}
    litres = sum(needs[name] * count for name, count in plants.items())
    return round(litres / litres_per_minute, 1)  # 多开半分钟也无妨


print(pump_minutes({"番茄": 8, "生菜": 20}))  # 4.0
```

遇到没有登记的作物会抛出 `KeyError`，总比菜地干了好。""",
        ),
        Turn(
            "昨晚下了 6 毫米的雨呢？",
            """1 毫米的雨等于每平方米 1 升水，6 毫米落在 4 平方米的菜地上就是

$$6 \\cdot 4 = 24 \\text{ 升}$$

> 下得太急的雨会流走，雷阵雨只能算一半。

菜地每天需要 `24.0` 升，所以**今天不用开泵**，明天再看。""",
        ),
        Turn(
            "列一份第一周的清单。",
            """### 第一周

1. 星期一
   - [x] 冲洗水管
   - [ ] 测水泵：接满一桶，记下时间
2. 星期三
   - [ ] 找出浇不到的角落
   - [ ] 给番茄盖上稻草
3. 星期日
   - [ ] 记下用水量
   - [ ] 需要时修改 `litres_per_minute`""",
        ),
        Turn(
            "傍晚浇水是不是更好？",
            "多数情况下早晨更好：叶子整夜潮湿容易得病。生菜例外，它在夜里吸水，叶子干得也快。🍅",
            "用户问的是浇水时间。叶子夜里潮湿有利于真菌。表里生菜写的是傍晚，要说明这并不矛盾。",
        ),
    ),
    needle="覆盖稻草",
    reworded="四株番茄每天需要多少水？",
    with_code=2,
    starter=(
        "什么是花园？",
        "写一个 Python 函数，把两个数相加。",
        "给三种水果和它们的颜色做一张表。",
        "哪一种是黄色的？",
        "用一个词回答。",
        "谢谢。",
    ),
)

TALKS = {"en": ENGLISH, "zh": CHINESE}
