"""Decisions with no state: guard, retries, breaker, schedule, versions."""
