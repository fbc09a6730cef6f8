"""Settings that several kinds of source have in common."""

from __future__ import annotations

from rowen.core.params import Param, number, switch, whole, words
from rowen.core.rules.duration import Duration
from rowen.core.safety.secrets import reference

INCLUDE = Param(
    name="include", default=[], parse=words, identity=True, help="Only paths that match one of these globs"
)
EXCLUDE = Param(
    name="exclude", default=[], parse=words, identity=True, help="No paths that match one of these globs"
)
HIDDEN = Param(
    name="hidden", default=False, parse=switch, identity=True, help="Also names that begin with a dot"
)
CONCURRENCY = Param(
    name="concurrency", default=3, parse=whole(1, 64), identity=False, help="Requests at a time per host"
)
DELAY_S = Param(
    name="delay_s",
    default=0.0,
    parse=Duration(0, 3600, bare="s"),
    identity=False,
    help="Seconds between requests to a host",
)
MAX_DELETED_SHARE = Param(
    name="max_deleted_share",
    default=0.3,
    parse=number(0, 1),
    identity=False,
    help="A generation that would remove more than this share is held for approval",
)
WEBHOOK_SECRET = Param(
    name="webhook_secret",
    default="",
    parse=reference,
    identity=False,
    secret=True,
    help="Signs web hooks for this source, by reference: '${DOCS_HOOK}'; else ROWEN_WEBHOOK_SECRET does",
)
