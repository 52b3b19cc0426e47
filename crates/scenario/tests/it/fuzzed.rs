//! Bytes that a fuzzer found worth keeping, and thousands like them, without a fuzzer.

#[path = "../../../../fuzz/checks/file.rs"]
mod file;
#[path = "../../../../fuzz/checks/har.rs"]
mod har;
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
fn a_file_of_rates_or_a_recorded_page_is_refused_by_one_error_or_is_in_order() {
    replay::replay("rates", 3000, rates::check);
    replay::replay("har", 3000, har::check);
    file::remove_folder();
}
