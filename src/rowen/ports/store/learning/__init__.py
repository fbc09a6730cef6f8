"""What is learnt about sources beside their documents: for plans, and of how they change."""
