#![no_main]

#[path = "../checks/quantiles.rs"]
mod quantiles;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| quantiles::check(bytes));
