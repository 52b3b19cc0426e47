//! Bytes that a fuzzer found worth keeping, and thousands like them, without a fuzzer.

#[path = "../../../../fuzz/checks/offload.rs"]
mod offload;
#[path = "../../../../fuzz/checks/packets.rs"]
mod packets;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn packets_of_any_bytes_are_delivered_or_accounted_for() {
    replay::replay("packets", 2000, packets::check);
}

#[test]
fn bursts_of_any_bytes_are_cut_and_united_without_loss() {
    replay::replay("offload", 6000, offload::check);
}
