//! What each side proves in a handshake, which certificates are valid for which names, and what errors reveal.
#![allow(clippy::unwrap_used)]
use std::slice;

use rustls::{
    ClientConnection, Connection, HandshakeKind, ServerConnection,
    sign::{CertifiedKey, SingleCertAndKey},
};
use sealwright_transcripts::until;

use super::*;
use crate::{
    client::Identity,
    control::fuzz::{expire, revoke, trial_files},
    serve::{Config, init},
};

/// The files of a relay and of two clients of one authority.
fn files() -> (tempfile::TempDir, [TlsFiles; 3]) {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    init(&trial, &[], &["alice".into(), "bob".into()]).unwrap();
    (folder, ["relay", "alice", "bob"].map(|name| trial_files(&trial, name)))
}

fn relay_client(trial: &Path, name: &str) -> Arc<ClientConfig> {
    trial_files(trial, name).client().unwrap()
}

/// Presents these certificates with this key, whether they match or not.
fn shown(certificates: Vec<CertificateDer<'static>>, key: &TlsFiles) -> Arc<SingleCertAndKey> {
    let key = provider().key_provider.load_private_key(key.key().unwrap()).unwrap();
    Arc::new(CertifiedKey::new(certificates, key).into())
}

/// Passes on all that one side has to send.
fn pass(from: &mut Connection, to: &mut Connection) -> Result<(), RustlsError> {
    let mut records = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut records).unwrap();
    }
    let mut records = &records[..];
    while !records.is_empty() {
        to.read_tls(&mut records).unwrap();
        to.process_new_packets()?;
    }
    Ok(())
}

/// A handshake in memory with the relay under this name, and then all that both send. Returns its properties, or which
/// side ended it and why.
fn shake_hands(
    client: &Arc<ClientConfig>,
    server: &ServerConfig,
    name: &str,
) -> Result<HandshakeKind, (&'static str, RustlsError)> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client: Connection = ClientConnection::new(client.clone(), name).unwrap().into();
    let mut server: Connection = ServerConnection::new(Arc::new(server.clone())).unwrap().into();
    while client.wants_write() || server.wants_write() {
        pass(&mut client, &mut server).map_err(|error| ("server", error))?;
        pass(&mut server, &mut client).map_err(|error| ("client", error))?;
    }
    assert!(!client.is_handshaking() && !server.is_handshaking());
    Ok(client.handshake_kind().unwrap())
}

/// A certificate is public: presenting it is not enough without its key.
#[test]
fn both_sides_prove_that_they_have_the_keys_of_their_certificates() {
    let (_folder, [relay, alice, bob]) = files();
    let (client, server) = (alice.client().unwrap(), relay.server().unwrap().config);
    assert_eq!(shake_hands(&client, &server, "localhost"), Ok(HandshakeKind::Full));
    let mut thief = ClientConfig::clone(&client);
    thief.client_auth_cert_resolver = shown(certificates(&alice.certificate).unwrap(), &bob);
    let wrong = RustlsError::InvalidCertificate(CertificateError::BadSignature);
    assert_eq!(shake_hands(&Arc::new(thief), &server, "localhost"), Err(("server", wrong.clone())));
    let mut impostor = ServerConfig::clone(&server);
    impostor.cert_resolver = shown(certificates(&relay.certificate).unwrap(), &bob);
    assert_eq!(shake_hands(&client, &impostor, "localhost"), Err(("client", wrong)));
}

/// All certificates are from one authority: the purpose in a certificate counts, not only who signed it.
#[test]
fn no_client_can_be_a_relay_and_no_relay_a_client() {
    let (_folder, [relay, alice, _]) = files();
    let (client, tls) = (alice.client().unwrap(), relay.server().unwrap());
    let [relays, alices] = [&relay, &alice].map(|files| certificates(&files.certificate).unwrap());
    assert!(tls.is_valid(&alices) && !tls.is_valid(&relays));
    let mut as_client = ClientConfig::clone(&client);
    as_client.client_auth_cert_resolver = shown(relays, &relay);
    let refused = shake_hands(&Arc::new(as_client), &tls.config, "localhost");
    assert!(matches!(refused, Err(("server", RustlsError::InvalidCertificate(_)))), "{refused:?}");
    let mut as_relay = ServerConfig::clone(&tls.config);
    as_relay.cert_resolver = shown(alices, &alice);
    let refused = shake_hands(&client, &as_relay, "alice");
    assert!(matches!(refused, Err(("client", RustlsError::InvalidCertificate(_)))), "{refused:?}");
}

/// Session keys come from the key exchange of their own connection.
#[test]
fn no_handshake_resumes_an_earlier_one() {
    let (_folder, [relay, alice, _]) = files();
    let (client, server) = (alice.client().unwrap(), relay.server().unwrap().config);
    for _ in 0..3 {
        assert_eq!(shake_hands(&client, &server, "localhost"), Ok(HandshakeKind::Full));
    }
}

#[test]
fn a_client_verifies_no_chain_that_is_too_long() {
    let (_folder, [relay, alice, _]) = files();
    let (client, server) = (alice.client().unwrap(), relay.server().unwrap().config);
    let with = |between: usize| {
        let mut chain = certificates(&relay.certificate).unwrap();
        chain.extend(vec![certificates(&alice.certificate).unwrap().remove(0); between]);
        let mut server = ServerConfig::clone(&server);
        server.cert_resolver = shown(chain, &relay);
        shake_hands(&client, &server, "localhost")
    };
    assert_eq!(with(6), Ok(HandshakeKind::Full));
    let refused = RustlsError::InvalidCertificate(CertificateError::UnknownIssuer);
    assert_eq!(with(7), Err(("client", refused)), "it would be valid, but for its length");
}

/// Of certificate and key, one is replaced and the other not yet.
#[test]
fn a_certificate_and_a_key_that_do_not_belong_together_are_both_named_and_hold_up_no_revocation() {
    let (folder, [mut relay, alice, _]) = files();
    let trial = folder.path().join("trial");
    revoke(&trial, 1, &[]).unwrap();
    relay.crl = Some(trial.join("authority.crl"));
    let tls = relay.server().unwrap();
    let alices = certificates(&alice.certificate).unwrap();
    std::fs::copy(&alice.key, &relay.key).unwrap();
    for error in [relay.server().map(drop).unwrap_err(), relay.client().map(drop).unwrap_err()] {
        let said = error.to_string();
        assert!(["relay.key", "relay.pem"].iter().all(|part| said.contains(part)) && error.hint().is_some(), "{said}");
    }
    assert!(tls.refreshed().unwrap().is_none() && tls.is_valid(&alices));
    revoke(&trial, 2, &["alice"]).unwrap();
    let fresh = tls.refreshed().unwrap().unwrap();
    assert!(!fresh.is_valid(&alices) && !fresh.trusts_as(&tls) && tls.trusts_as(&tls.clone()));
    assert_eq!(shake_hands(&relay_client(&trial, "bob"), &fresh.config, "localhost"), Ok(HandshakeKind::Full));
}

/// A root, an authority under it, and alice's certificate from that. Where a list says that the authority is revoked, so
/// are all certificates from it; the root need not have a list.
#[test]
fn certificates_of_a_revoked_authority_are_revoked() {
    use rcgen::{
        BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
        ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
        date_time_ymd,
    };
    let (folder, [mut relay, ..]) = files();
    let key = || KeyPair::generate().unwrap();
    let authority = |name: &str, serial: u64| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.serial_number = Some(SerialNumber::from(serial));
        params.use_authority_key_identifier_extension = true;
        params
    };
    let root = CertifiedIssuer::self_signed(authority("root", 1), key()).unwrap();
    let between = CertifiedIssuer::signed_by(authority("between", 2), key(), &root).unwrap();
    let mut alice = CertificateParams::new(["alice".to_owned()]).unwrap();
    alice.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    alice.use_authority_key_identifier_extension = true;
    let alice = alice.signed_by(&key(), &between).unwrap();
    let chain = [alice.der().clone(), between.der().clone()];
    let list = |by: &CertifiedIssuer<'_, KeyPair>, revoked: &[u64]| {
        let revoked = revoked.iter().map(|&serial| RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2025, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2025, 1, 1),
            next_update: date_time_ymd(2049, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(by).unwrap().pem().unwrap()
    };
    relay.authority = folder.path().join("root.pem");
    std::fs::write(&relay.authority, root.pem()).unwrap();
    let crl = folder.path().join("lists.pem");
    relay.crl = Some(crl.clone());
    let standing = |lists: &[String]| {
        std::fs::write(&crl, lists.concat()).unwrap();
        relay.server().unwrap().standing(&chain)
    };
    let empty = list(&between, &[]);
    assert_eq!(standing(slice::from_ref(&empty)), Standing::Valid, "the root has no list");
    assert_eq!(standing(&[empty.clone(), list(&root, &[])]), Standing::Valid);
    assert_eq!(standing(&[empty.clone(), list(&root, &[3])]), Standing::Valid, "another one is revoked");
    assert_eq!(standing(&[empty, list(&root, &[2])]), Standing::NotTrusted);
    assert_eq!(standing(&[list(&root, &[])]), Standing::NotTrusted, "nothing is known of alice");
    relay.crl = None;
    assert_eq!(relay.server().unwrap().standing(&chain), Standing::Valid);
}

/// PEM that lost its line ends, as in a shell variable, or a part of its text.
#[test]
fn no_error_repeats_what_stands_in_a_file_of_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let [authority, path] = ["authority.pem", "relay.key"].map(|name| folder.path().join(name));
    std::fs::write(&authority, rcgen::generate_simple_self_signed(["a".to_owned()]).unwrap().cert.pem()).unwrap();
    let files =
        TlsFiles { authority: path.clone(), certificate: path.clone(), key: path.clone(), crl: Some(path.clone()) };
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let secret = key.lines().nth(1).unwrap().to_owned();
    let of_list: Vec<u8> = secret.bytes().take(8).collect();
    let (head, rest) = key.split_once('\n').unwrap();
    for text in [
        key.replace('\n', ""),
        format!("{head}\n{}", rest.replace('\n', "")),
        key.replace("-----END", "END"),
        key.replacen(&secret[..9], "?", 1),
        secret.clone(),
    ] {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let errors = [
            files.key().map(drop),
            files.roots().map(drop),
            files.client().map(drop),
            TlsFiles { authority: authority.clone(), ..files.clone() }.server().map(drop),
        ];
        for error in errors {
            let error = error.unwrap_err();
            let said = format!("{error} {error:?}");
            let numbers = format!("{of_list:?}");
            let numbers = numbers.trim_matches(['[', ']']);
            assert!(!said.contains(&secret[..8]) && !said.contains(numbers), "{said}");
        }
    }
}

/// A setting that should name a file may contain the file's content by mistake.
#[test]
fn no_error_shows_what_stands_where_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let secret = key.lines().nth(1).unwrap();
    let hides = |said: String, setting: &str| {
        assert!(said.contains(setting) && said.contains("must name a file"), "{said}");
        assert!(!said.contains(&secret[..8]), "{said}");
    };
    let table = |wrong: &str| {
        let settings = ["authority", "certificate", "key", "crl"];
        let line =
            |name| if name == wrong { format!("{name} = '''\n{key}'''\n") } else { format!("{name} = 'a.pem'\n") };
        settings.map(line)
    };
    for wrong in ["authority", "certificate", "key", "crl"] {
        let lines = table(wrong);
        let relay = format!("frames = '127.0.0.1:1'\ncontrol = '127.0.0.1:2'\n[tls]\n{}", lines.concat());
        let error = Config::parse(&relay, folder.path()).unwrap_err();
        hides(format!("{error} {error:?}"), &format!("tls.{wrong}"));
        if wrong != "crl" {
            let path = folder.path().join("alice.toml");
            std::fs::write(&path, format!("name = 'alice'\nrelay = 'localhost:1'\n{}", lines[..3].concat())).unwrap();
            let error = Identity::read(&path).unwrap_err();
            hides(format!("{error} {error:?}"), wrong);
        }
    }
}

/// Layers of unsigned certificates, as a stranger can make them up.
#[test]
fn a_chain_that_is_too_long_to_verify_is_refused_at_once() {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, Issuer, KeyPair};
    let folder = tempfile::tempdir().unwrap();
    crate::serve::init(&folder.path().join("trial"), &[], &["alice".into()]).unwrap();
    let files = |name: &str| trial_files(&folder.path().join("trial"), name);
    let tls = files("relay").server().unwrap();
    let alice = CertificateDer::from_pem_file(files("alice").certificate).unwrap();
    let named = |name: &str| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
    };
    let key = || KeyPair::generate().unwrap();
    let issuer = |name: &str| CertifiedIssuer::self_signed(named(name), key()).unwrap();
    let issuers = ["A", "B", "C", "D"].map(issuer);
    let signed =
        |name: &str, by: &Issuer<'_, KeyPair>| CertificateDer::from(named(name).signed_by(&key(), by).unwrap());
    let (leaf, mut layers) = (signed("leaf", &issuers[0]), Vec::new());
    for (name, by) in [("A", 1), ("B", 2), ("C", 3)] {
        (0..40).for_each(|_| layers.push(signed(name, &issuers[by])));
    }
    let chain = |leaf: &CertificateDer<'static>, between: usize| [slice::from_ref(leaf), &layers[..between]].concat();
    assert!(tls.is_valid(&chain(&alice, 0)) && tls.is_valid(&chain(&alice, 6)));
    assert!(!tls.is_valid(&chain(&alice, 7)), "it would be valid, but for its length");
    let mut long = alice.to_vec();
    long.resize(40 << 10, 0);
    assert!(!tls.is_valid(&[long.into()]));
    // CPU time of this thread only: ten thousand of these chains took an hour
    let before = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
    (0..10_000).for_each(|_| assert!(!tls.is_valid(&chain(&leaf, layers.len()))));
    let after = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
    assert!(after.tv_sec() - before.tv_sec() < 60);
}

#[test]
fn a_certificate_names_what_is_written_in_it_and_by_a_wildcard_one_label_more() {
    let certificate = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        CertificateDer::from(rcgen::generate_simple_self_signed(names).unwrap().cert)
    };
    let plain = certificate(&["alice", "bob.example"]);
    assert!(names(&plain, "alice") && names(&plain, "ALICE") && names(&plain, "bob.example"));
    for other in ["bob", "example", "x.alice", "alic", "", "*", "*.example", "127.0.0.1"] {
        assert!(!names(&plain, other), "{other}");
    }
    let many = certificate(&["*.load.test"]);
    assert!(names(&many, "0.load.test") && names(&many, "x-1.load.test"));
    for other in ["load.test", "1.2.load.test", "*.load.test", ".load.test", "0.load.tes"] {
        assert!(!names(&many, other), "{other}");
    }
    assert!(!names(&certificate(&["*.load"]), "0.load"), "two labels must follow");
}

/// Otherwise all clients would be turned away and could not return.
#[test]
fn a_certificate_that_clients_refuse_is_not_taken_over() {
    let (folder, [relay, ..]) = files();
    let trial = folder.path().join("trial");
    revoke(&trial, 1, &[]).unwrap();
    let config = Config::read(&trial.join("relay.toml")).unwrap();
    let room = config.check().unwrap();
    let crl = Some(trial.join("authority.crl"));
    let tls = TlsFiles { crl, ..relay.clone() }.server().unwrap();
    // The year 2049
    assert_eq!((tls.revocations_until(), tls.warnings()), (Some(2_493_072_000), Vec::new()));
    // The relay's certificate may be intended for another authority
    let (_others, [other, ..]) = files();
    let theirs = TlsFiles { certificate: other.certificate, key: other.key, ..relay };
    assert_eq!(theirs.server().unwrap().warnings()[0].0, "certificate-of-others");
    let server = crate::serve::Server::start(&config, Arc::new(crate::Log::to(io::sink()))).unwrap();
    server.reload(&config).unwrap();
    expire(&trial, "relay", std::time::Duration::from_secs(20 * 86_400 + 1)).unwrap();
    server.reload(&config).unwrap();
    assert!(config.hints(&room).iter().any(|hint| hint.ends_with("expires in 20 days")), "{:?}", config.hints(&room));
    expire(&trial, "relay", std::time::Duration::ZERO).unwrap();
    until("its end", || config.check().is_err());
    let expected = format!("{}: this certificate has expired: clients refuse it", trial.join("relay.pem").display());
    assert_eq!(
        [config.check().unwrap_err(), server.reload(&config).unwrap_err()].map(|why| why.to_string()),
        [&*expected; 2]
    );
}
