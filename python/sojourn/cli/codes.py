"""Exit codes of the command besides 0."""

FAILURE = 1
BAD_INPUT = 2
INTERRUPTED = 130
