//! The table `[mesh]` of a configuration.

#[cfg(feature = "nats")]
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
#[cfg(feature = "nats")]
use zeroize::Zeroizing;

#[cfg(feature = "nats")]
use crate::{
    control::tls::{FileError, private},
    mesh::Servers,
    serve::{
        config_error::{SecretError, ValueError},
        file_name::file_within,
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "nats"), allow(dead_code))]
pub(super) struct MeshTable {
    nats: String,
    secret: PathBuf,
    #[serde(default = "mesh_name")]
    name: String,
}

#[cfg(feature = "nats")]
impl MeshTable {
    pub(super) fn check(self, folder: &Path) -> Result<crate::mesh::MeshConfig, ValueError> {
        let path = file_within(folder, "mesh.secret", self.secret)?;
        let secret = secret(&path).map_err(|why| ValueError::Secret { path, why })?;
        let label = |label: &str| label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !self.name.split('.').all(|part| !part.is_empty() && label(part)) {
            return Err(ValueError::MeshName);
        }
        let nats = Servers::parse(&self.nats).map_err(ValueError::Nats)?;
        Ok(crate::mesh::MeshConfig { nats, name: self.name, secret })
    }
}

/// Reads the secret of a mesh from its file.
#[cfg(feature = "nats")]
fn secret(path: &Path) -> Result<Zeroizing<[u8; 32]>, SecretError> {
    private(path)?;
    let text = Zeroizing::new(std::fs::read_to_string(path).map_err(FileError::Io)?);
    let bytes = base16ct::mixed::decode_vec(text.trim()).map(Zeroizing::new).ok();
    let secret = bytes.as_deref().and_then(|bytes| <[u8; 32]>::try_from(&bytes[..]).ok());
    secret.map(Zeroizing::new).ok_or(SecretError::NotHex)
}

fn mesh_name() -> String {
    "sealwright".into()
}
