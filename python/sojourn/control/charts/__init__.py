"""Figures of loops and maps."""
