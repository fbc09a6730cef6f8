"""What a page that answered is: a page of its own, another name of one, or missing though it answers 200."""
