#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sealwright_hostile::run("records", bytes));
