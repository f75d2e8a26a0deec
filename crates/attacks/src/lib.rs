//! Attacks on broken schemes and misused modes.
//!
//! Each attack is one file and one row of [`ATTACKS`]. It runs against this project's real implementation, first
//! against something weak, where it must succeed, and then against something strong, where it must fail. A [`Report`]
//! says what the attacker did and what it cost. `docs/attacks/` explains each attack.
//!
//! ```
//! use sealwright_attacks::{Size, by_name};
//!
//! let report = by_name("gcm-nonce-reuse").expect("an attack").run(Size::Small)?;
//! assert!(report.as_expected());
//! # Ok::<(), sealwright_attacks::AttackError>(())
//! ```

mod tools;

mod aes_timing;
mod bus_invalidation;
mod bus_pads;
mod bus_reorder;
mod bus_rsa;
mod bus_stalls;
mod bus_tamper;
mod cbc_flip;
mod cbc_padding;
mod even_mansour;
mod even_mansour_slide;
mod gcm_nonce_reuse;
mod gcm_partition;
mod gcm_short_tag;
mod gcm_two_keys;
mod gscm_forgery;
mod gscm_keys;
mod gscm_relay;
mod gscm_second_key;
mod ocb2;
mod ocb_nonce_reuse;
mod rkc_guess;
mod rkc_splice;
mod rkc_truncation;
mod timing;

mod attack;
mod table;

pub use attack::{Attack, AttackError, Axes, Report, Size, Target, Trial};
pub use table::{ATTACKS, by_name};
