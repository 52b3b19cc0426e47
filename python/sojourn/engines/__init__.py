"""Engines: scenario in, run out."""
