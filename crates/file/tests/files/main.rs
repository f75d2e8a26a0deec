//! Sealed files from outside: whole, damaged, interrupted, on full disks, beside OpenSSL.
#![allow(clippy::unwrap_used)]

mod costs;
mod damage;
mod enc;
mod failing;
mod interrupt;
mod openssl;
mod place;
mod preambles;
mod reader;
mod roundtrip;
mod support;
