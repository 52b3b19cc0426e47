//! What a run gives back: histograms, the summary, tables.
