//! Tests of the public interface: complete, damaged and interrupted files, full disks, and comparison with OpenSSL.
#![allow(clippy::unwrap_used)]

mod costs;
mod damage;
mod durable;
mod enc;
mod failing;
mod interrupt;
mod openssl;
mod padding;
mod place;
mod preambles;
mod reader;
#[cfg(feature = "public-keys")]
mod recipients;
mod roundtrip;
#[cfg(feature = "signatures")]
mod signed;
mod support;
mod trees;
