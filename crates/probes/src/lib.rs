//! What tests of the kernels need from the system: memory between pages that nobody may touch ([`guarded`]), and marks by which
//! valgrind follows secrets ([`marks`]). [`subjects`] are the kernels that the tests run, [`sessions`] the frames.

pub mod guarded;
pub mod marks;
pub mod sessions;
pub mod subjects;
