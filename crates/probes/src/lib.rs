//! Support for tests of the kernels: memory between guard pages ([`guarded`]), marks by which valgrind follows secrets
//! ([`marks`]), and a statistical test of whether times depend on secrets ([`dudect`]). [`subjects`] are the kernels
//! that the tests run, [`sessions`] the frames.

pub mod dudect;
pub mod guarded;
pub mod marks;
pub mod sessions;
pub mod subjects;
