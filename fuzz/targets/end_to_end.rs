#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sealwright_hostile::run("end_to_end", bytes));
