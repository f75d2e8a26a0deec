//! The manifests of directories that are sealed file by file.

pub(crate) mod existing;
pub(crate) mod locks;
pub(crate) mod read;
pub(crate) mod write;
