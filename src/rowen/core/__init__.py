"""Values and rules that everything shares. Pure: no I/O, no clock."""
