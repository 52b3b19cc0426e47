//! Bytes that a fuzzer found worth keeping, and thousands like them, without a fuzzer.

#[path = "../../../../fuzz/checks/quantiles.rs"]
mod quantiles;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
#[path = "../../../../fuzz/checks/transfers.rs"]
mod transfers;

#[test]
fn a_file_of_transfers_is_refused_with_a_line_or_reads_back() {
    replay::replay("transfers", 6000, transfers::check);
}

#[test]
fn a_table_of_quantiles_is_refused_by_one_error_or_bounds_its_samples() {
    replay::replay("quantiles", 6000, quantiles::check);
}
