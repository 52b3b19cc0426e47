#![no_main]

#[path = "../checks/packets.rs"]
mod packets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| packets::check(bytes));
