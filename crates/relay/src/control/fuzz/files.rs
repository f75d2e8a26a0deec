//! Fuzz target: the files behind TLS (authorities, certificates, keys, revocation lists). Whatever they contain, they
//! are used, or refused with an error that names the file; no revoked certificate is valid, and only those that the
//! authority signed are.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    slice,
    time::Duration,
};

use rcgen::{
    CertificateParams, CertificateRevocationListParams, ExtendedKeyUsagePurpose, Issuer, KeyIdMethod, KeyPair,
    RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer,
    pem::{self, PemObject},
};

use super::{
    super::tls::{ServerTls, TlsError, TlsFiles, dns_names, is_name, names},
    trial_files,
};
use crate::serve::init::authority_params;

/// Writes `authority.crl`, with the certificates of `revoked` and this number, into a folder that
/// [`init`](crate::serve::init) made. Replaces an older list.
///
/// # Errors
/// When a file is missing, or cannot be written.
pub fn revoke(folder: &Path, number: u64, revoked: &[&str]) -> io::Result<()> {
    let authority = authority(folder)?;
    let serial = |name: &&str| {
        let certificate = certificate(&folder.join(format!("{name}.pem"))).map_err(io::Error::other)?;
        let certificate = webpki::EndEntityCert::try_from(&certificate).map_err(io::Error::other)?;
        Ok(RevokedCertParams {
            serial_number: SerialNumber::from_slice(certificate.serial()),
            revocation_time: date_time_ymd(2025, 1, 1),
            reason_code: None,
            invalidity_date: None,
        })
    };
    let list = CertificateRevocationListParams {
        this_update: date_time_ymd(2025, 1, 1),
        next_update: date_time_ymd(2049, 1, 1),
        crl_number: SerialNumber::from(number),
        issuing_distribution_point: None,
        revoked_certs: revoked.iter().map(serial).collect::<io::Result<_>>()?,
        key_identifier_method: KeyIdMethod::Sha256,
    };
    let list = list.signed_by(&authority).map_err(io::Error::other)?;
    fs::write(folder.join("authority.crl"), list.pem().map_err(io::Error::other)?)
}

/// Issues a new certificate for a client, which expires after this time.
///
/// # Errors
/// When a file is missing, or cannot be written.
pub fn expire(folder: &Path, name: &str, after: Duration) -> io::Result<()> {
    let authority = authority(folder)?;
    let key = fs::read_to_string(folder.join(format!("{name}.key")))?;
    let key = KeyPair::from_pem(&key).map_err(io::Error::other)?;
    let mut params = CertificateParams::new([name.to_owned()]).map_err(io::Error::other)?;
    params.use_authority_key_identifier_extension = true;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), time::OffsetDateTime::now_utc() + after);
    let certificate = params.signed_by(&key, &authority).map_err(io::Error::other)?;
    fs::write(folder.join(format!("{name}.pem")), certificate.pem())
}

/// The authority of a folder that `init` made.
fn authority(folder: &Path) -> io::Result<Issuer<'static, KeyPair>> {
    let key = KeyPair::from_pem(&fs::read_to_string(folder.join("authority.key"))?).map_err(io::Error::other)?;
    Ok(Issuer::new(authority_params().map_err(io::Error::other)?, key))
}

fn certificate(path: &Path) -> Result<CertificateDer<'static>, pem::Error> {
    CertificateDer::from_pem_file(path)
}

/// A file that may be changed: its PEM label, path and content.
struct Changeable {
    label: &'static str,
    pem: Vec<u8>,
    der: Vec<u8>,
}

/// The files of a relay, certificates of its clients, and one of another authority.
pub struct FilesFuzz {
    files: TlsFiles,
    /// The authority, the relay's certificate, its key, the list of revoked certificates.
    genuine: [Changeable; 4],
    unchanged: ServerTls,
    /// Certificates of clients: a valid one, a revoked one, and one of another authority.
    clients: [CertificateDer<'static>; 3],
    /// Where a changed file is written.
    changed: PathBuf,
}

impl std::fmt::Debug for FilesFuzz {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilesFuzz").finish_non_exhaustive()
    }
}

impl FilesFuzz {
    /// Takes two folders made by `serve --init`: the relay's, with alice, bob and an `authority.crl` that revokes bob;
    /// and one of another authority, with alice.
    pub fn new(ours: &Path, theirs: &Path) -> FilesFuzz {
        let files = TlsFiles { crl: Some(ours.join("authority.crl")), ..trial_files(ours, "relay") };
        let crl = CertificateRevocationListDer::from_pem_file(ours.join("authority.crl")).expect("a list");
        let key = PrivateKeyDer::from_pem_file(&files.key).expect("a key");
        let der = [
            ("CERTIFICATE", &files.authority, certificate(&files.authority).expect("a certificate").to_vec()),
            ("CERTIFICATE", &files.certificate, certificate(&files.certificate).expect("a certificate").to_vec()),
            ("PRIVATE KEY", &files.key, key.secret_der().to_vec()),
            ("X509 CRL", &ours.join("authority.crl"), crl.to_vec()),
        ];
        let genuine =
            der.map(|(label, path, der)| Changeable { label, pem: fs::read(path).expect("the file is there"), der });
        let client = |folder: &Path, name: &str| certificate(&folder.join(name)).expect("a client's certificate");
        let clients = [client(ours, "alice.pem"), client(ours, "bob.pem"), client(theirs, "alice.pem")];
        let unchanged = files.server().expect("the relay's files");
        assert_eq!(clients.each_ref().map(|client| unchanged.is_valid(slice::from_ref(client))), [true, false, false]);
        FilesFuzz { files, genuine, unchanged, clients, changed: ours.join("changed") }
    }

    /// A file by its number, if there is one: its PEM label, the file, and the decoded content.
    pub fn genuine(&self, which: usize) -> Option<(&'static str, &[u8], &[u8])> {
        self.genuine.get(which).map(|file| (file.label, &file.pem[..], &file.der[..]))
    }

    /// The certificate of a valid client.
    pub fn alice(&self) -> &[u8] {
        &self.clients[0]
    }

    /// Uses a text as one of the files, for a relay and for a client.
    pub fn file(&self, which: usize, text: &[u8]) {
        let genuine = text == self.genuine[which].pem;
        let _ = fs::remove_file(&self.changed);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.changed);
        file.and_then(|mut file| file.write_all(text)).expect("the file is written");
        let mut files = self.files.clone();
        let place = match which {
            0 => &mut files.authority,
            1 => &mut files.certificate,
            2 => &mut files.key,
            _ => files.crl.as_mut().expect("there is a list"),
        };
        place.clone_from(&self.changed);
        let named = |error: &TlsError| {
            let text = error.to_string();
            // A certificate and a key that do not match are the fault of no single file
            assert!(text.contains("changed") || matches!(error, TlsError::Tls(_)), "{text}");
            // Errors must not repeat the content of a file
            let all = format!("{text} {error:?}");
            assert!(all.len() < 600, "{all}");
        };
        match files.server() {
            Err(error) => {
                assert!(!genuine, "{error}");
                named(&error);
            }
            Ok(tls) => {
                let [alice, bob, stranger] =
                    self.clients.each_ref().map(|client| tls.is_valid(slice::from_ref(client)));
                assert!(!bob && !stranger, "bob: {bob}, a client of another authority: {stranger}");
                assert!(alice || !genuine && matches!(which, 0 | 3));
                // Read again, nothing has changed
                assert!(tls.refreshed().expect("the file was read before").is_none());
            }
        }
        if let Err(error) = files.client() {
            assert!(!genuine, "{error}");
            named(&error);
        }
        if which == 2 {
            fs::set_permissions(&self.changed, Permissions::from_mode(0o640)).expect("the file is ours");
            assert!(files.server().is_err(), "others may read the key");
        }
    }

    /// Verifies a client's certificate: only alice's is valid, and the names in it are names.
    pub fn client(&self, client: &[u8]) {
        let client = &CertificateDer::from(client.to_vec());
        let valid = self.unchanged.is_valid(slice::from_ref(client));
        assert_eq!(valid, *client == self.clients[0], "a certificate that its authority did not sign");
        for name in dns_names(client) {
            assert_eq!(name, name.to_ascii_lowercase());
            assert!(!is_name(&name) || names(client, &name), "{name}");
        }
    }
}
