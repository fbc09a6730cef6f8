"""What doors show: every JSON shape that more than one door sends, declared once.

The names of fields are promises (DESIGN, "What programs may rely on"). `shape.py` says what a shape is.
"""
