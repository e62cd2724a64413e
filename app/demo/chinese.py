"""The demonstration in Chinese."""

from app.demo.told import Told, exchange, folded, reply
from engine.transcript import Body, user

TILES = """全州约 410 MB。所有瓦片放进一个文件，记下每块瓦片最后一次被查看的时间，超限时先删最旧的：

```python
def evict(db: Connection, limit: int) -> None:
    while size_of(db) > limit:
        db.execute("DELETE FROM tiles ORDER BY seen LIMIT 64")  # 先删最旧的
```

| 缩放级别 | 用途 | 瓦片数 | 占用空间 |
|---|---|---:|---:|
| 8–12 | 总览 | 1,240 | 31 MB |
| 13–14 | 规划路线 | 9,870 | 142 MB |
| 15 | 在路上 | 31,400 | 237 MB |
"""

PHOTOS = """可以，用 `exiftool` 一行就够：

```sh
exiftool "-FileName<DateTimeOriginal" -d "%Y-%m-%d_%H%M%S%%-c.%%e" *.jpg
```

- 没有拍摄日期的照片保持原名。
- 同一秒的照片会加上编号。
"""

DOUGH = """冷厨房（18 °C）里，时间大约是平时的 **1.5 倍**：

1. 20:00 喂种，放一夜。
2. 08:00 和面，每半小时折叠一次，共四次。
3. 15:00 整形，冷藏到第二天早上。
"""

FTS = """用 FTS5 的 `trigram` 分词器，中文也能直接搜索：

```sql
CREATE VIRTUAL TABLE notes USING fts5(text, tokenize = 'trigram');
SELECT * FROM notes WHERE text MATCH '等高线';
```

搜索词至少要有三个字；更短的词用 `LIKE`。
"""

THOUGHT = (
    "用户要把全州的离线瓦片控制在 512 MB 以内。缩放级别 8 到 15 已经定了。"
    "先估算各级别的瓦片数，再说明怎样删除最旧的。"
)

SUMMARY = (
    "你在为苏黎世州规划一款离线优先的徒步地图：Android 上用 MapLibre，所有瓦片存进一个文件，"
    "不需要账号。已定：缩放级别 8 到 15。未定：如何清理旧瓦片、如何画等高线。"
)

VALUES = (
    ("range", "zoom 8–15"),
    ("place", "47.3769, 8.5417"),
    ("path", "tiles/zh.mbtiles"),
    ("amount", "512 MB"),
    ("version", "GPX 1.1"),
)


def conversations() -> tuple[Told, ...]:
    """The conversations, the newest first."""
    return (
        Told("离线优先的徒步地图", 0.02, _map_talk()),
        Told("按拍摄日期重命名照片", 0.12, exchange("怎样按拍摄日期重命名照片？", PHOTOS)),
        Told(
            "这个正则为什么慢？",
            0.22,
            exchange(
                "`(a+)+$` 为什么这么慢？",
                "嵌套的重复会产生**指数级回溯**。改成 `a+$`，含义相同，时间是线性的。",
            ),
        ),
        Told("冷厨房里的酸面团时间表", 1.1, exchange("厨房只有 18 °C，酸面团怎么安排？", DOUGH)),
        Told("用 SQLite 做全文搜索", 1.3, exchange("SQLite 能搜索中文吗？", FTS)),
        Told(
            "用图书馆讲解 B 树",
            3.4,
            exchange(
                "用图书馆打个比方，讲讲 B 树。",
                "每层的指示牌只列几个区间，你跟着走两三次，就站到了那一排书架前。",
            ),
        ),
        Told(
            "给小船起名字",
            6.0,
            exchange("给一条小木船起名字？", "*海鹊*、*潮生*、*归帆*：都短，喊起来顺口。"),
        ),
        Told(
            "翻译：一封给邻居的信",
            21.0,
            exchange(
                "译成英文：谢谢你照看我们的猫。",
                "Thank you for looking after our cat.",
            ),
        ),
        Told(
            "编辑器的 Lua 配置",
            64.0,
            exchange("怎样显示行号？", "在配置里写 `vim.opt.number = true`。"),
        ),
    )


def _map_talk() -> tuple[Body, ...]:
    return (
        user("我想做一款离线优先的徒步地图，先做苏黎世州。用什么？"),
        reply("Android 上用 **MapLibre**：开源，支持本地瓦片，不需要账号。"),
        user("缩放级别取多少？"),
        reply("8 到 15。15 级已能看清小路，再往上体积会翻两倍。", prompt=1_204, reused=890),
        folded(SUMMARY, VALUES),
        user("瓦片要占多少空间？怎样控制在 512 MB 以内？"),
        reply(TILES, THOUGHT, prompt=3_102, reused=2_914),
    )
