"""Datasets of open-data portals: their texts, the facts about them, and catalogues in DCAT."""
