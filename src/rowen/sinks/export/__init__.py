"""What readers see, in a file."""
