//! Keys for opening, for all verbs that open sealed files.

use std::path::PathBuf;

use clap::Args;
use sealwright_file::{Ceiling, Key, Opening};
use sealwright_terminal::CommandError;

use super::{ceiling, pairs::IdentityArgs, secret};
use crate::{
    ad,
    args::{AdArgs, KeySourceArgs},
    preflight::Given,
    protected_inputs,
};

/// Keys, what they may cost, and associated data.
#[derive(Args, Debug)]
pub(crate) struct UnlockArgs {
    #[command(flatten)]
    key: KeySourceArgs,
    #[command(flatten)]
    identity: IdentityArgs,
    /// Maximum cost that a file can demand to try a passphrase: memory, passes, lanes
    #[arg(long, value_name = "MEMORY[,PASSES[,LANES]]", default_value = "1GiB,16,64", value_parser = ceiling::parse, help_heading = "Key")]
    pub(crate) max_cost: Ceiling,
    #[command(flatten)]
    ad: AdArgs,
}

impl UnlockArgs {
    /// Fails if no key was given.
    pub(crate) fn refuse_none(&self) -> Result<(), CommandError> {
        secret::named(&self.key, ("--identity", self.identity.any()))
    }

    /// The kinds of keys that were given.
    pub(crate) fn given(&self) -> Given {
        Given::new(&self.key, self.identity.any())
    }

    /// All files that must not be replaced or removed: those named here, and `more`.
    pub(crate) fn files<'a>(
        &'a self,
        more: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<Vec<PathBuf>, CommandError> {
        protected_inputs::named(&self.key, &self.ad, self.identity.files().iter().chain(more))
    }

    /// Whether associated data was given.
    #[cfg(feature = "public-keys")]
    pub(crate) fn has_ad(&self) -> bool {
        self.ad.ad.is_some() || self.ad.ad_file.is_some()
    }

    /// The associated data.
    pub(crate) fn ad(&self) -> Result<Vec<u8>, CommandError> {
        ad::read(&self.ad)
    }

    /// Reads the keys; passphrases are asked for.
    pub(crate) fn keys(&self) -> Result<Vec<Key>, CommandError> {
        secret::keys(&self.key, &self.identity)
    }

    /// An [`Opening`] with these keys and this associated data.
    pub(crate) fn opening<'a>(&self, keys: &'a [Key], ad: &'a [u8]) -> Opening<'a> {
        Opening::with_keys(keys).ceiling(self.max_cost).ad(ad)
    }
}
