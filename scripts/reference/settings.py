"""The pages of settings: `rowen.toml`, kinds of source, kinds of sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from rowen import registers
from rowen.config import SECTIONS, SHORT_VARIABLES, load
from rowen.core.exchange import alarm_channels
from rowen.core.params import Param
from rowen.managing.registry import rules as registry
from rowen.registers import our_sinks
from rowen.sinks.declared import FIELDS as SINK_FIELDS
from scripts.reference.markdown import WRITTEN, table

TOML = f"""# rowen.toml

{WRITTEN}
One file holds what to mirror (`[[sources]]`), where changes are sent (`[[sinks]]`), who is told of trouble
(`[[alarms]]`), and how this installation works (the other sections). `rowen init` writes a first one.

- Commands read the settings of the `rowen.toml` in the current folder, once `rowen config trust` has said
  that it may be used, or of the file that `ROWEN_CONFIG` names. `rowen config show` prints each value and
  where it came from.
- `rowen apply` makes the store match its sources, sinks and alarms. With `--dry-run` it only shows the plan.
- A value is taken from the defaults, then the file, then the environment, then flags; the last one wins.
- An unknown section or key is an error, with a suggestion.

A duration is written as `90s`, `15m`, `6h`, `1d` or `2w`, as several of these in a row (`1h30m`), or as
`hourly`, `daily` or `weekly`. Where a setting has a unit in its name, a bare number is read in that unit.
"""

SOURCES = f"""# Settings of sources

{WRITTEN}
Given with `--set key=value` to `rowen add` and `rowen edit`, or under `set` in
[`rowen.toml`](rowen-toml.md#sources). A setting with a name behind a dot (`header.NAME`) may be given several
times; in `rowen.toml` it is a table. Credentials are references to variables, never values.
"""

SINKS = f"""# Settings of sinks

{WRITTEN}
Keys of a `[[sinks]]` table in [`rowen.toml`](rowen-toml.md#sinks), beside those that all sinks have.
[Sinks](../sinks.md) says what each sink sends and when.
"""


def toml_page() -> Iterator[str]:
    yield TOML
    yield "## `[[sources]]`\n"
    yield "`[defaults]` takes the same keys, for every source that does not have its own.\n"
    yield _fields(registry.FIELDS, needed=("name", "location"))
    yield "The keys of `set` are those of the kind: [settings of sources](sources.md).\n"
    yield "## `[[sinks]]`\n"
    yield _fields(SINK_FIELDS, needed=("name", "kind"))
    yield "All other keys are those of the kind: [settings of sinks](sinks.md).\n"
    yield "## `[[alarms]]`\n"
    yield "[Alarms](../sinks.md#alarms) says when one is raised.\n"
    yield _fields(alarm_channels.COMMON, needed=("kind",))
    for kind, names in alarm_channels.FIELDS.items():
        if names:
            yield f"### Alarm `{kind}`\n"
            helps = {name: alarm_channels.HELP[name] for name in names}
            yield _fields(helps, needed=alarm_channels.REQUIRED[kind])
    yield from _configuration()


def sources_page() -> Iterator[str]:
    yield SOURCES
    for kind in registers.kinds().ours():
        yield f"## Kind `{kind.name}`\n"
        yield _params(kind.params)


def sinks_page() -> Iterator[str]:
    yield SINKS
    for name, kind in ((name, made()) for name, made in our_sinks().items()):
        yield f"## Sink `{name}`\n"
        yield _params(kind.params)


def _fields(helps: Mapping[str, str], *, needed: Sequence[str]) -> str:
    rows = [(f"`{name}`", "yes" if name in needed else "", f"{text}.") for name, text in helps.items()]
    return table(("key", "needed", "meaning"), rows)


def _params(params: Sequence[Param]) -> str:
    rows = [(f"`{one.label}`", f"`{one.shown}`" if one.shown else "", f"{one.help}.") for one in params]
    return table(("setting", "default", "meaning"), rows)


def _configuration() -> Iterator[str]:
    settings = {one.name: one for one in load(environment={})[1]}
    also = {name: variable for variable, name in SHORT_VARIABLES.items()}
    for section, cls in SECTIONS.items():
        yield f"## `[{section}]`\n"
        rows = []
        for field in fields(cls):
            one = settings[f"{section}.{field.name}"]
            variables = dict.fromkeys((one.variable, also.get(one.name, one.variable)))
            shown = str(one.value).lower() if isinstance(one.value, bool) else str(one.value)
            default = f"`{shown}`" if shown else ""
            rows.append(
                (f"`{field.name}`", default, ", ".join(f"`{name}`" for name in variables), f"{one.help}.")
            )
        yield table(("key", "default", "variable", "meaning"), rows)
