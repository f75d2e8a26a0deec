//! The schemes, one a file. [`SchemeKind`](crate::SchemeKind) says what they are.

mod clear;
mod cluster;
mod derived;
mod gscm;
mod on64;
mod paper;
mod tables;

pub(crate) use clear::Clear;
pub(crate) use derived::Derived;
pub(crate) use gscm::Gscm;
pub(crate) use on64::On64;
pub(crate) use paper::Paper;
