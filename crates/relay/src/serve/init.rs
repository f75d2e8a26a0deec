//! A relay to try: an authority, certificates, keys and configurations in one folder.

use std::{
    fs::{DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

/// Writes a configuration `relay.toml` with all files that it names, and `NAME.toml` for each client. No file is replaced.
///
/// # Errors
/// When the folder exists or cannot be written.
pub fn init(folder: &Path, hosts: &[String], clients: &[String]) -> io::Result<()> {
    for name in clients {
        if !is_name(name) {
            let why = format!("{name}: not a name such as alice, alice.example or, for many, *.load.test");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
    }
    DirBuilder::new().mode(0o700).create(folder)?;
    let authority = authority().map_err(io::Error::other)?;
    let write = |name: &str, text: &str| write(&folder.join(name), text);
    write("authority.pem", &authority.as_ref().pem())?;
    write("authority.key", &authority.key().serialize_pem())?;
    let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let names: Vec<String> = local.into_iter().chain(hosts.iter().cloned()).collect();
    let host = hosts.first().map_or("localhost", String::as_str);
    let relay = leaf(&authority, &names, ExtendedKeyUsagePurpose::ServerAuth).map_err(io::Error::other)?;
    write("relay.pem", &relay.0)?;
    write("relay.key", &relay.1)?;
    let quoted: Vec<String> = clients.iter().map(|name| format!("\"{name}\"")).collect();
    let any = if hosts.is_empty() { "127.0.0.1" } else { "0.0.0.0" };
    write("relay.toml", &RELAY.replace("{any}", any).replace("{clients}", &quoted.join(", ")))?;
    for name in clients {
        let own = std::slice::from_ref(name);
        let client = leaf(&authority, own, ExtendedKeyUsagePurpose::ClientAuth).map_err(io::Error::other)?;
        let stem = stem(name);
        write(&format!("{stem}.pem"), &client.0)?;
        write(&format!("{stem}.key"), &client.1)?;
        let text = CLIENT.replace("{host}", host).replace("{name}", name).replace("{stem}", stem);
        write(&format!("{stem}.toml"), &text)?;
    }
    Ok(())
}

/// A DNS name. After `*.` at least two labels must follow; other wildcards are not accepted in certificates.
fn is_name(name: &str) -> bool {
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

[tls]
authority = "authority.pem"
certificate = "relay.pem"
key = "relay.key"
"#;

const CLIENT: &str = r#"name = "{name}"
relay = "{host}:7601"
authority = "authority.pem"
certificate = "{stem}.pem"
key = "{stem}.key"
"#;

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, "Sealwright trial authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2049, 1, 1));
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

/// Certificate and key for these names.
fn leaf(
    authority: &CertifiedIssuer<'_, KeyPair>,
    names: &[String],
    purpose: ExtendedKeyUsagePurpose,
) -> Result<(String, String), rcgen::Error> {
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
    Ok((certificate.pem(), key.serialize_pem()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
