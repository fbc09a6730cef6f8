"""SVG from the server. Colours are classes of the style sheet, sizes are attributes: nothing needs
`style=`.
"""
