"""How fast pages change, how likely copies are current, and which pages to spend a budget of requests on."""
