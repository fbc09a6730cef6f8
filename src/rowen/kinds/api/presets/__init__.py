"""APIs described as data: open-data portals and job boards, each a preset of the engine beside it."""
