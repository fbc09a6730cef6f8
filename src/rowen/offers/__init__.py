"""Job listings and companies, projected from the change feed."""
