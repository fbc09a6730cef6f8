"""The page for people: whole HTML from the server, a little script of our own, nothing from elsewhere.

Loaded by `rowen serve --listen` and `rowen web`, and by nothing else. `app.py` lists the addresses; `pages/`
has a file for each page, which makes one value that the template and the `.json` beside it both show;
`actions.py` changes things. `draw/` makes SVG, `templates/` and `assets/` are what browsers get.
"""
