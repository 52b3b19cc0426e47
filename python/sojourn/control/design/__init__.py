"""Design rules: settings of a queue discipline from a region of flows and round trip times."""
