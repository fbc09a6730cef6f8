"""Open-data portals by the action API of CKAN."""
