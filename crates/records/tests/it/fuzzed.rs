//! Bytes that a fuzzer found worth keeping, and thousands like them, without a fuzzer.

#[path = "../../../../fuzz/checks/capture.rs"]
mod capture;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn captures_of_any_packets_read_back() {
    replay::replay("capture", 4000, capture::check);
}
