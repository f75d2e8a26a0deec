//! A relay to try: an authority, certificates, keys and configurations in one folder.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use zeroize::Zeroizing;

use crate::errors::os_error_text;

/// What to do where the key of the authority is not kept.
const ELSEWHERE: &str = "; hint: add the client where authority.key is kept, beside a copy of this folder's relay.toml \
                         and lists of names, then add its name to clients_file here (docs/OPERATING.md)";

/// Writes a configuration `relay.toml` with all files that it names, and `NAME.toml` for each client. No file is replaced.
///
/// # Errors
/// When the folder exists or cannot be written.
pub fn init(folder: &Path, hosts: &[String], clients: &[String]) -> io::Result<()> {
    clients.iter().try_for_each(|name| check_name(name))?;
    DirBuilder::new().mode(0o700).create(folder)?;
    let authority = authority().map_err(io::Error::other)?;
    let write = |name: &str, text: &str| write(&folder.join(name), text);
    write("authority.pem", &authority.as_ref().pem())?;
    write("authority.key", &pem(authority.key()))?;
    let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let names: Vec<String> = local.into_iter().chain(hosts.iter().cloned()).collect();
    let host = hosts.first().map_or("localhost", String::as_str);
    let relay = leaf(&authority, &names, ExtendedKeyUsagePurpose::ServerAuth).map_err(io::Error::other)?;
    write("relay.pem", &relay.0)?;
    write("relay.key", &relay.1)?;
    let quoted: Vec<String> = clients.iter().map(|name| format!("\"{name}\"")).collect();
    let any = if hosts.is_empty() { "127.0.0.1" } else { "0.0.0.0" };
    write("relay.toml", &RELAY.replace("{any}", any).replace("{clients}", &quoted.join(", ")))?;
    write("clients.txt", "# Clients, one a line; `sealwright relay add` adds them.\n")?;
    write("revoked.txt", "# Names that may not have a session, one a line; `sealwright relay revoke` adds them.\n")?;
    for name in clients {
        client(folder, &authority, name, &format!("{host}:7601"))?;
    }
    Ok(())
}

/// Writes the certificate, the key and the configuration of a client into a folder that [`init`] made, and the client's
/// name into its `clients.txt`.
///
/// # Errors
/// When the authority's key is not there, or a file exists.
pub fn add(folder: &Path, file: &Path, name: &str, relay: &str) -> io::Result<()> {
    check_name(name)?;
    let read = || fs::read_to_string(folder.join("authority.key")).map(Zeroizing::new);
    let missing = |error: io::Error| {
        let hint = if error.kind() == io::ErrorKind::NotFound { ELSEWHERE } else { "" };
        io::Error::new(error.kind(), format!("authority.key: {}{hint}", os_error_text(&error)))
    };
    // What stands in the files is not repeated
    let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
    let key = KeyPair::from_pem(&read().map_err(missing)?)
        .map_err(|_| invalid("authority.key holds no private key in PEM"))?;
    let params = authority_params().map_err(io::Error::other)?;
    let theirs = CertificateDer::from_pem_file(folder.join("authority.pem"))
        .map_err(|_| invalid("authority.pem holds no certificate in PEM"))?;
    let ours = key.der_bytes();
    // A certificate holds its public key in the same form
    if !theirs.windows(ours.len()).any(|part| part == ours) {
        let why = "authority.key is not the key of authority.pem";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    // All before the first is written: half a client could neither connect nor be added again
    let there = files(name).into_iter().find(|file| folder.join(file).symlink_metadata().is_ok());
    if let Some(file) = there {
        let why = format!("{file}: File exists; hint: remove it if it is of no use, or choose another name");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    let names = NameFile::open(file)?;
    client(folder, &Issuer::new(params, key), name, relay)?;
    names.append(name)
}

/// A file with names, one a line, to which one more is to be added.
#[derive(Debug)]
pub struct NameFile(File);

impl NameFile {
    /// Opens it, so that what cannot be written is known before.
    ///
    /// # Errors
    /// When it is not there, or may not be written.
    pub fn open(path: &Path) -> io::Result<NameFile> {
        OpenOptions::new().read(true).append(true).open(path).map(NameFile)
    }

    /// Adds a name, on a line of its own whether or not the last one there has its end.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(mut self, name: &str) -> io::Result<()> {
        let mut last = [b'\n'];
        if self.0.metadata()?.len() > 0 {
            self.0.seek(SeekFrom::End(-1))?;
            self.0.read_exact(&mut last)?;
        }
        let end = if last == [b'\n'] { "" } else { "\n" };
        // In one piece, so that a relay that reads meanwhile sees a whole name
        self.0.write_all(format!("{end}{name}\n").as_bytes())?;
        self.0.sync_all()
    }
}

fn client(folder: &Path, authority: &Issuer<'_, KeyPair>, name: &str, relay: &str) -> io::Result<()> {
    let own = [name.to_owned()];
    let made = leaf(authority, &own, ExtendedKeyUsagePurpose::ClientAuth).map_err(io::Error::other)?;
    let text = CLIENT.replace("{relay}", relay).replace("{name}", name).replace("{stem}", stem(name));
    let paths = files(name).map(|file| folder.join(file));
    for (at, text) in [&made.0, &*made.1, &text].into_iter().enumerate() {
        if let Err(error) = write(&paths[at], text) {
            // What was written is of no use without the rest
            paths[..at].iter().for_each(|path| drop(fs::remove_file(path)));
            let file = paths[at].file_name().unwrap_or_default().display().to_string();
            return Err(io::Error::new(error.kind(), format!("{file}: {}", os_error_text(&error))));
        }
    }
    Ok(())
}

/// The files of a client: its certificate, its key, its configuration.
fn files(name: &str) -> [String; 3] {
    ["pem", "key", "toml"].map(|ending| format!("{}.{ending}", stem(name)))
}

fn check_name(name: &str) -> io::Result<()> {
    if is_name(name) {
        return Ok(());
    }
    let why = format!("{name}: not a name such as alice, alice.example or, for many, *.load.test");
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// Whether a client can have this name: a DNS name. After `*.` at least two labels must follow; other wildcards are not
/// accepted in certificates.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let labels = stem(name).split('.');
    let least = if name.starts_with("*.") { 2 } else { 1 };
    labels.clone().count() >= least && labels.into_iter().all(|label| !label.is_empty() && label.bytes().all(plain))
}

/// The name of a client's files.
pub fn stem(name: &str) -> &str {
    name.strip_prefix("*.").unwrap_or(name)
}

const RELAY: &str = r#"# A relay of sealed frames. SIGHUP reads this file again: clients, certificates and handshake limits then change
# without a restart.
frames = "{any}:7600"
control = "{any}:7601"
metrics = "127.0.0.1:7602"
scheme = "gcm-on64"
sessions = 100000
memory_mib = 1024
clients = [{clients}]
clients_file = "clients.txt"
revoked_file = "revoked.txt"
admin = "relay.sock"

[tls]
authority = "authority.pem"
certificate = "relay.pem"
key = "relay.key"
"#;

const CLIENT: &str = r#"name = "{name}"
relay = "{relay}"
authority = "authority.pem"
certificate = "{stem}.pem"
key = "{stem}.key"
"#;

/// What the authority of a trial setup is.
pub(crate) fn authority_params() -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, "Sealwright trial authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2049, 1, 1));
    Ok(params)
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    CertifiedIssuer::self_signed(authority_params()?, KeyPair::generate()?)
}

/// Certificate and key for these names.
fn leaf(
    authority: &Issuer<'_, KeyPair>,
    names: &[String],
    purpose: ExtendedKeyUsagePurpose,
) -> Result<(String, Zeroizing<String>), rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    if let Some(name) = names.first() {
        params.distinguished_name.push(DnType::CommonName, name.as_str());
    }
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2049, 1, 1));
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    Ok((certificate.pem(), pem(&key)))
}

/// A key as its file holds it.
fn pem(key: &KeyPair) -> Zeroizing<String> {
    Zeroizing::new(key.serialize_pem())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes()).inspect_err(|_| drop(fs::remove_file(path)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A client has all of its files or none, and no file that is there is touched.
    #[test]
    fn a_client_whose_files_are_there_is_not_added_by_half() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        init(&trial, &[], &[]).unwrap();
        let add = || add(&trial, &trial.join("clients.txt"), "*.carol.test", "localhost:1");
        let listed = fs::read(trial.join("clients.txt")).unwrap();
        for file in ["carol.test.pem", "carol.test.key", "carol.test.toml"] {
            fs::write(trial.join(file), "there before").unwrap();
            let refused = add().unwrap_err().to_string();
            assert!(refused.starts_with(&format!("{file}: File exists; hint: ")), "{refused}");
            assert_eq!(fs::read(trial.join(file)).unwrap(), b"there before");
            fs::remove_file(trial.join(file)).unwrap();
            let made = fs::read_dir(&trial)
                .unwrap()
                .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("carol"));
            assert_eq!(made.count(), 0, "{file}");
        }
        assert_eq!(fs::read(trial.join("clients.txt")).unwrap(), listed);
        add().unwrap();
    }

    /// Nobody looked before: what is written first goes again when the rest cannot be.
    #[test]
    fn no_key_is_written_over_and_what_was_written_before_goes_again() {
        let folder = tempfile::tempdir().unwrap();
        let authority = authority().unwrap();
        fs::write(folder.path().join("carol.key"), "there before").unwrap();
        let refused = client(folder.path(), &authority, "carol", "localhost:1").unwrap_err();
        assert_eq!(
            (refused.kind(), refused.to_string()),
            (io::ErrorKind::AlreadyExists, "carol.key: File exists".into())
        );
        assert_eq!(fs::read(folder.path().join("carol.key")).unwrap(), b"there before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(&folder.path().join("carol.key"), "other").is_err());
        assert_eq!(fs::read(folder.path().join("carol.key")).unwrap(), b"there before");
    }
}
