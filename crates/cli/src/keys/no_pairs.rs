//! Replaces `pairs` in builds without key pairs: their options do not exist.

use std::path::PathBuf;

use clap::Args;
use sealwright_file::{Key, Recipient};
use sealwright_terminal::CommandError;

/// For whom files are sealed: nobody can be named.
#[derive(Args, Debug)]
pub(crate) struct RecipientArgs {}

/// Whose secret keys open files: nobody's can be named.
#[derive(Args, Debug)]
pub(crate) struct IdentityArgs {}

impl RecipientArgs {
    pub(crate) fn any(&self) -> bool {
        false
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &[]
    }

    pub(crate) fn read(&self) -> Result<Vec<Recipient>, CommandError> {
        Ok(Vec::new())
    }
}

impl IdentityArgs {
    pub(crate) fn any(&self) -> bool {
        false
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &[]
    }

    pub(crate) fn read(&self) -> Result<Vec<Key>, CommandError> {
        Ok(Vec::new())
    }
}
