//! The table of attacks.

use crate::{
    aes_timing, attack::Attack, bus_invalidation, bus_pads, bus_reorder, bus_rsa, bus_stalls, bus_tamper, cbc_flip,
    cbc_padding, even_mansour, even_mansour_slide, gcm_nonce_reuse, gcm_partition, gcm_short_tag, gcm_two_keys,
    gscm_forgery, gscm_keys, gscm_relay, gscm_second_key, ocb_nonce_reuse, ocb2, rkc_guess, rkc_splice, rkc_truncation,
    timing,
};

/// Every attack, in the order in which they are run.
pub const ATTACKS: &[Attack] = &[
    gscm_forgery::ATTACK,
    gscm_keys::ATTACK,
    gscm_relay::ATTACK,
    gscm_second_key::ATTACK,
    even_mansour::ATTACK,
    even_mansour_slide::ATTACK,
    rkc_truncation::ATTACK,
    rkc_guess::ATTACK,
    rkc_splice::ATTACK,
    gcm_nonce_reuse::ATTACK,
    gcm_short_tag::ATTACK,
    gcm_two_keys::ATTACK,
    gcm_partition::ATTACK,
    cbc_padding::ATTACK,
    cbc_flip::ATTACK,
    ocb_nonce_reuse::ATTACK,
    ocb2::ATTACK,
    bus_tamper::ATTACK,
    bus_pads::ATTACK,
    bus_invalidation::ATTACK,
    bus_reorder::ATTACK,
    bus_rsa::ATTACK,
    bus_stalls::ATTACK,
    timing::ATTACK,
    aes_timing::ATTACK,
];

/// The attack of a name.
pub fn by_name(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|attack| attack.name == name)
}
