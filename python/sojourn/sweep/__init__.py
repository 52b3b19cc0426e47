"""Many runs at once: comparisons, and sweeps over scenarios and seeds with a store on disk."""
