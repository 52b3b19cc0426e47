"""What means harm to the router and to the lab."""
