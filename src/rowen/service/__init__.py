"""Unattended work: the loop over sources, attempts, the sync queue, workers."""
