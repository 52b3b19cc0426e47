"""The published laws of congestion controls beside what they do: one module for each part."""
