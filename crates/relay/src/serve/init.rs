//! Trial setups: an authority, certificates, keys and configurations in one folder.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    net::{IpAddr, Ipv6Addr},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, DnsName, pem::PemObject};
use zeroize::Zeroizing;

use super::init_error::InitError;

/// Names and addresses of a relay that is used from the same machine only.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// Names of the files that `init` writes for the authority and the relay.
const RESERVED_FILE_NAMES: [&str; 2] = ["authority", "relay"];

/// Writes a configuration `relay.toml` with all files that it names, and `NAME.toml` for each client, into a new
/// folder: all of it, or there is no folder.
///
/// # Errors
/// If a name cannot be that of a client or of a host, or two clients would have the same files
/// ([`InitError::is_usage`]); when the folder exists or cannot be written.
pub fn init(folder: &Path, hosts: &[String], clients: &[String]) -> Result<(), InitError> {
    check_clients(clients)?;
    hosts.iter().try_for_each(|host| check_host(host))?;
    DirBuilder::new().mode(0o700).create(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => InitError::Exists,
        _ => InitError::Io(error),
    })?;
    // The folder was made just now, so nobody has put anything else there
    fill(folder, hosts, clients).inspect_err(|_| drop(fs::remove_dir_all(folder)))
}

/// Writes all files into a new folder.
fn fill(folder: &Path, hosts: &[String], clients: &[String]) -> Result<(), InitError> {
    let authority = authority()?;
    let write = |name: &str, text: &str| write(&folder.join(name), text);
    write("authority.pem", &authority.as_ref().pem())?;
    write("authority.key", &pem(authority.key()))?;
    let names: Vec<String> = LOCAL_HOSTS.map(str::to_owned).into_iter().chain(hosts.iter().cloned()).collect();
    let host = hosts.first().map_or("localhost", String::as_str);
    let relay = leaf(&authority, &names, ExtendedKeyUsagePurpose::ServerAuth)?;
    write("relay.pem", &relay.0)?;
    write("relay.key", &relay.1)?;
    let quoted: Vec<String> = clients.iter().map(|name| format!("\"{name}\"")).collect();
    let any = match hosts {
        [] => "127.0.0.1",
        // Listens on both address families. Not by default, because a machine may lack IPv6
        hosts if hosts.iter().any(|host| host.parse::<Ipv6Addr>().is_ok()) => "[::]",
        _ => "0.0.0.0",
    };
    write("relay.toml", &RELAY_TEMPLATE.replace("{any}", any).replace("{clients}", &quoted.join(", ")))?;
    write("clients.txt", "# Names of clients, one per line; `sealwright relay add` adds them.\n")?;
    write("revoked.txt", "# Names that may not have a session, one per line; `sealwright relay revoke` adds them.\n")?;
    for name in clients {
        client(folder, &authority, name, &at_port(host, 7601))?;
    }
    Ok(())
}

/// Host and port in one text.
fn at_port(host: &str, port: u16) -> String {
    if host.parse::<Ipv6Addr>().is_ok() { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Refuses invalid client names, and two clients whose files would have the same names.
fn check_clients(clients: &[String]) -> Result<(), InitError> {
    let mut known = HashMap::new();
    for name in clients {
        check_name(name)?;
        let stem = stem(name).to_ascii_lowercase();
        if RESERVED_FILE_NAMES.contains(&stem.as_str()) {
            return Err(InitError::OwnName(name.clone()));
        }
        if let Some(other) = known.insert(stem, name) {
            return Err(InitError::SameFiles { name: name.clone(), other: other.clone() });
        }
    }
    Ok(())
}

fn check_host(host: &str) -> Result<(), InitError> {
    if host.parse::<IpAddr>().is_ok() || DnsName::try_from(host).is_ok() && stem(host) == host {
        return Ok(());
    }
    Err(InitError::Host(host.to_owned()))
}

/// The first name in the relay's certificate by which other machines can reach it.
pub fn host_in(certificate: &Path) -> Option<String> {
    let certificate = CertificateDer::from_pem_file(certificate).ok()?;
    let names = webpki::EndEntityCert::try_from(&certificate).ok()?;
    names.valid_dns_names().find(|name| !LOCAL_HOSTS.contains(name) && !name.starts_with("*.")).map(str::to_owned)
}

/// Writes the certificate, the key and the configuration of a client into a folder that [`init`] made, and the client's
/// name into its `clients.txt`.
///
/// # Errors
/// When the authority's key is not there, or a file exists.
pub fn add(folder: &Path, file: &Path, name: &str, relay: &str) -> Result<(), InitError> {
    check_name(name)?;
    let read = || fs::read_to_string(folder.join("authority.key")).map(Zeroizing::new);
    let key = KeyPair::from_pem(&read().map_err(InitError::AuthorityKey)?)
        .map_err(|_| InitError::Authority("authority.key holds no private key in PEM"))?;
    let params = authority_params()?;
    let theirs = CertificateDer::from_pem_file(folder.join("authority.pem"))
        .map_err(|_| InitError::Authority("authority.pem holds no certificate in PEM"))?;
    let ours = key.der_bytes();
    // A certificate contains its public key in the same encoding
    if !theirs.windows(ours.len()).any(|part| part == ours) {
        return Err(InitError::Authority("authority.key is not the key of authority.pem"));
    }
    // Checked before the first file is written: an incomplete client could neither connect nor be added again
    if let Some(file) = files(name).into_iter().find(|file| folder.join(file).symlink_metadata().is_ok()) {
        return Err(InitError::ClientExists(file));
    }
    let names = NameFile::open(file)?;
    client(folder, &Issuer::new(params, key), name, relay)?;
    Ok(names.append(name)?)
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
        // In one write, so that a relay that reads meanwhile sees a whole name
        self.0.write_all(format!("{end}{name}\n").as_bytes())?;
        self.0.sync_all()
    }
}

fn client(folder: &Path, authority: &Issuer<'_, KeyPair>, name: &str, relay: &str) -> Result<(), InitError> {
    let own = [name.to_owned()];
    let made = leaf(authority, &own, ExtendedKeyUsagePurpose::ClientAuth)?;
    let text = CLIENT_TEMPLATE.replace("{relay}", relay).replace("{name}", name).replace("{stem}", stem(name));
    let paths = files(name).map(|file| folder.join(file));
    for (at, text) in [&made.0, &*made.1, &text].into_iter().enumerate() {
        if let Err(error) = write(&paths[at], text) {
            // The files written so far are of no use without the rest
            paths[..at].iter().for_each(|path| drop(fs::remove_file(path)));
            let file = paths[at].file_name().unwrap_or_default().display().to_string();
            return Err(InitError::Write { file, error });
        }
    }
    Ok(())
}

/// The files of a client: its certificate, its key, its configuration.
fn files(name: &str) -> [String; 3] {
    ["pem", "key", "toml"].map(|ending| format!("{}.{ending}", stem(name)))
}

fn check_name(name: &str) -> Result<(), InitError> {
    if is_name(name) { Ok(()) } else { Err(InitError::Name(name.to_owned())) }
}

/// Whether a client can have this name: a DNS name. After `*.` at least two labels must follow; other wildcards are not
/// accepted in certificates.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let labels = stem(name).split('.');
    let least = if name.starts_with("*.") { 2 } else { 1 };
    labels.clone().count() >= least
        && labels.into_iter().all(|label| !label.is_empty() && label.bytes().all(plain))
        // The parser checks the positions of hyphens and the lengths
        && DnsName::try_from(stem(name)).is_ok()
}

/// The base name of a client's files.
pub fn stem(name: &str) -> &str {
    name.strip_prefix("*.").unwrap_or(name)
}

const RELAY_TEMPLATE: &str = r#"# Configuration of a relay. SIGHUP reloads this file; changes to clients, certificates and handshake limits then take
# effect without a restart.
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

const CLIENT_TEMPLATE: &str = r#"name = "{name}"
relay = "{relay}"
authority = "authority.pem"
certificate = "{stem}.pem"
key = "{stem}.key"
"#;

/// The parameters of the authority's certificate.
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

/// A certificate and its key for these names.
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

/// A key in PEM.
fn pem(key: &KeyPair) -> Zeroizing<String> {
    Zeroizing::new(key.serialize_pem())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes()).inspect_err(|_| drop(fs::remove_file(path)))
}

#[cfg(test)]
#[path = "init_tests.rs"]
mod tests;
