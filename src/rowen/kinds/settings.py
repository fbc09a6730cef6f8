"""Settings that several kinds of source have in common."""

from __future__ import annotations

from rowen.core.params import how, number, optional, switch, what, whole, words
from rowen.core.rules.duration import LONGEST_INTERVAL_S, Duration
from rowen.core.safety.secrets import reference


def absolute_path(text: str) -> str:
    path = text.strip()
    if path and not (path.startswith("/") or path[1:3] in (":/", ":\\")):
        raise ValueError("expected an absolute path")
    return path


INCLUDE = what("include", [], "Only paths that match one of these globs", words)
EXCLUDE = what("exclude", [], "No paths that match one of these globs", words)
HIDDEN = what("hidden", False, "Also names that begin with a dot", switch)
CONCURRENCY = how("concurrency", 3, "Requests at a time per host", whole(1, 64))
DELAY_S = how("delay_s", 0.0, "Seconds between requests to a host", Duration(0, 3600, bare="s"))
MAX_DELETED_SHARE = how(
    "max_deleted_share",
    0.3,
    "A generation that would remove more than this share of documents, or their texts, is held for approval",
    number(0, 1),
)
CA_FILE = how(
    "ca_file",
    "",
    "Certificates to trust beside those that this machine knows: a PEM file, by its absolute path",
    absolute_path,
)
TIME_LIMIT_S = how(
    "time_limit_s",
    None,
    "How long a run may take before it ends as partial and the next continues; none for `runs.time_limit_s`",
    optional(Duration(0, 30 * 86_400, bare="s")),
)
KEEP = how(
    "keep",
    None,
    "How long a generation can be searched and shown again after another took its place, such as `90d`; none"
    " for `history.keep`. What `history.keep_generations` keeps is kept as well",
    optional(Duration(1, LONGEST_INTERVAL_S)),
)
WEBHOOK_SECRET = how(
    "webhook_secret",
    "",
    "Signs web hooks for this source, by reference: '${DOCS_HOOK}'; else ROWEN_WEBHOOK_SECRET does",
    reference,
    secret=True,
)
