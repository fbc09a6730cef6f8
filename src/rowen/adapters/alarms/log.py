"""An alarm as one line of the log; the embedding program decides where the log goes."""

from __future__ import annotations

import logging

from rowen.core.exchange.alarm import Alarm, Severity

LOGGER = "rowen.alarms"
# Good news is logged as a warning too: without any set-up, Python shows nothing below that.
_LEVELS = {
    Severity.INFO: logging.WARNING,
    Severity.WARNING: logging.WARNING,
    Severity.ERROR: logging.ERROR,
    Severity.CRITICAL: logging.CRITICAL,
}


def deliver(alarm: Alarm) -> None:
    logging.getLogger(LOGGER).log(_LEVELS[alarm.severity], "%s", alarm.line)
