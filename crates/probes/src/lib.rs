//! What tests of the kernels need from the system: memory between pages that nobody may touch ([`guarded`]), and marks by which
//! valgrind follows secrets ([`marks`]). [`dudect`] measures whether
//! times tell secrets apart. [`subjects`] are the kernels that the tests run, [`sessions`] the frames.

pub mod dudect;
pub mod guarded;
pub mod marks;
pub mod sessions;
pub mod subjects;
