#![no_main]

#[path = "../checks/file.rs"]
mod file;
#[path = "../checks/rates.rs"]
mod rates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rates::check(bytes));
