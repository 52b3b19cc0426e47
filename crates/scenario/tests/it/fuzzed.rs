//! Bytes that a fuzzer found worth keeping, and thousands like them, without a fuzzer.

#[path = "../../../../fuzz/checks/rates.rs"]
mod rates;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
#[path = "../../../../fuzz/checks/scenario.rs"]
mod scenario;

#[test]
fn a_text_is_refused_by_one_error_or_survives_being_written() {
    replay::replay("scenario", 3000, scenario::check);
}

#[test]
fn a_file_of_rates_is_refused_by_one_error_or_makes_pieces_in_order() {
    replay::replay("rates", 3000, rates::check);
    rates::remove_folder();
}
