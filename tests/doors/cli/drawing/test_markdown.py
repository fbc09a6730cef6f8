"""Markdown as a terminal shows it."""

from __future__ import annotations

import io

from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.drawing.markdown import Markdown

PAGE = """# Plums

The *plum* is `picked` by **hand**, see [storing](https://example.org/store).

- one that is long enough for two lines
  - below it
- two

3. third
4. fourth

> Pears are picked
> later.

```python
def keep(plum):
    return "a line of code is never broken, however long it is"
```

| kind | weeks |
|---|---|
| plum | 2 |
"""


def drawn(text: str, *, width: int = 30, colours: bool = False) -> str:
    return Console(io.StringIO(), terminal=True, colours=colours, width=width).drawn(Markdown(text))


def test_a_page_is_shown_as_people_read_it() -> None:
    assert (
        drawn(PAGE)
        == """\
Plums

The plum is picked by hand,
see storing.

 • one that is long enough for
   two lines
    • below it
 • two

 3. third
 4. fourth

▌ Pears are picked later.

    def keep(plum):
        return "a line of code is never broken, however long it is"

kind  weeks
plum  2
"""
    )


def test_lines_are_no_longer_than_people_like_to_read() -> None:
    assert max(map(len, drawn("plum " * 100, width=300).splitlines())) <= 100


def test_a_link_leads_to_its_address() -> None:
    shown = drawn("[storing](https://example.org/store)", colours=True)
    assert shown == "\x1b]8;;https://example.org/store\x1b\\\x1b[34mstoring\x1b[0m\x1b]8;;\x1b\\\n"


def test_an_address_that_is_none_of_the_web_is_no_link() -> None:
    assert "]8;;" not in drawn("[x](javascript:alert) and [y](</a b>)", colours=True)


def test_tags_and_comments_are_not_shown_and_their_text_is() -> None:
    assert drawn("<b>plum</b> & pear") == "plum & pear\n"
    assert drawn("one\n\n<!-- /plum.keep -->\n\ntwo") == "one\n\ntwo\n"
    assert drawn('<p align="center">\nplum\n</p>') == "plum\n"


def test_a_heading_is_shown_without_the_mark_of_its_place() -> None:
    assert drawn("## Storing {#storing .function}\n\nCool.") == "Storing\n\nCool.\n"
    assert drawn("## def keep {.source-function name=plum.keep}\n\nCool.") == "def keep\n\nCool.\n"
