"""Companies in a Google sheet, once a night."""
