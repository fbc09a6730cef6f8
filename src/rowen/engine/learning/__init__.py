"""What runs learn about how their sources behave."""
