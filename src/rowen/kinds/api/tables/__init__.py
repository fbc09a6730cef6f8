"""Columns of datasets: read from what portals say of them, and asked for where no list has them."""
