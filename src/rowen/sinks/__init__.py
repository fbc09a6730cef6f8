"""Where changes are sent; a folder for each kind of sink."""
