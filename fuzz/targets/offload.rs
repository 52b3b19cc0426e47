#![no_main]

#[path = "../checks/offload.rs"]
mod offload;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offload::check(bytes));
