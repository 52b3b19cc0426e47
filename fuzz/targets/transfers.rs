#![no_main]

#[path = "../checks/transfers.rs"]
mod transfers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| transfers::check(bytes));
