"""`/docs`: the description of the API as one page, without a script."""
