"""A folder for each kind of source; crawl, listing and api are the three ways they share."""
