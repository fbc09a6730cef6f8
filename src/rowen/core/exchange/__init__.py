"""Values exchanged with other systems: alarms, deliveries, sheets, git trees, rows of a copied store."""
