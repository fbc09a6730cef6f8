"""The `Spreadsheet` port on Google Sheets. `open_spreadsheet` is the way in."""

from rowen.adapters.sheets.google import open_spreadsheet

__all__ = ["open_spreadsheet"]
