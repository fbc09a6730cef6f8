"""The REST door: HTTP in, JSON out. Loaded by `rowen serve --listen` and by nothing else.

`app.py` puts it together, `server.py` runs it; the other modules hold one topic each. Every answer is made in
`doors/shapes` and described by `models.py`; every refusal is a problem (`problems.py`).
"""
