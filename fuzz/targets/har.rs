#![no_main]

#[path = "../checks/file.rs"]
mod file;
#[path = "../checks/har.rs"]
mod har;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| har::check(bytes));
