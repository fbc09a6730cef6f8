"""How fast pages change, which claims of a site hold, and which pages to spend a budget of requests on."""
