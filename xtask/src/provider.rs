//! The OpenSSL provider, which `capi` installed below `prefix`: through EVP, through the program `openssl`, and under TLS.

use std::{
    fs,
    io::Read,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::{
    programs::{STRICT, have, printed, said},
    steps::{Checked, Steps},
};

pub(crate) fn run(steps: &mut Steps, folder: &Path) {
    let version = Command::new("openssl").arg("version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if !version.starts_with("OpenSSL 3") {
        return steps.skip("OpenSSL provider", "OpenSSL 3 is needed (Debian: apt install openssl libssl-dev)");
    }
    let modules = folder.join("prefix/lib/ossl-modules");
    if Path::new("/usr/include/openssl/provider.h").exists() && have("cc") {
        steps.check("OpenSSL provider through EVP", |steps| evp(steps, folder, &modules));
    } else {
        steps.skip("OpenSSL provider through EVP", "OpenSSL's headers are needed (Debian: apt install libssl-dev)");
    }
    steps.check("OpenSSL provider under TLS", |_| tls(folder, &modules));
}

/// Every algorithm against OpenSSL's own.
fn evp(steps: &Steps, folder: &Path, modules: &Path) -> Checked {
    let program = folder.join("provider");
    let mut compile = Command::new("cc");
    compile.args(STRICT).args(["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o"]);
    compile.arg(&program).arg(steps.root().join("crates/capi/tests/provider.c")).arg("-lcrypto");
    // OpenSSL frees some of its own memory only when it likes.
    let run = || said(Command::new(&program).arg(modules).env("ASAN_OPTIONS", "detect_leaks=0"));
    printed(said(&mut compile).and_then(|_| run()), "0 wrong of more than 1000\n")
}

/// A server of OpenSSL's whose ciphers are ours, and a client that knows nothing of it; then the other way round.
fn tls(folder: &Path, modules: &Path) -> Checked {
    let (key, certificate) = (folder.join("tls.key"), folder.join("tls.pem"));
    let mut make = Command::new("openssl");
    make.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]);
    make.args(["-subj", "/CN=localhost", "-keyout"]).arg(&key).arg("-out").arg(&certificate);
    let settings = folder.join("openssl.cnf");
    let text = format!(
        "openssl_conf = all\n[all]\nproviders = providers\nalg_section = algorithms\n[algorithms]\n\
         default_properties = ?provider=sealwright\n[providers]\nsealwright = ours\ndefault = theirs\n[ours]\n\
         module = {}\nactivate = 1\n[theirs]\nactivate = 1\n",
        modules.join("sealwright.so").display()
    );
    if let Err(why) = said(&mut make).and_then(|_| fs::write(&settings, text).map_err(|error| error.to_string())) {
        return Checked::Wrong(vec![why]);
    }
    let (mut wrong, mut right) = (Vec::new(), 0);
    for (version, suite) in [
        ("-tls1_3", ["-ciphersuites", "TLS_AES_256_GCM_SHA384"]),
        ("-tls1_3", ["-ciphersuites", "TLS_AES_128_GCM_SHA256"]),
        ("-tls1_2", ["-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"]),
        ("-tls1_2", ["-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"]),
    ] {
        for ours_serves in [true, false] {
            match exchange(&key, &certificate, &settings, ours_serves, version, suite) {
                Ok(()) => right += 1,
                Err(why) => wrong.push(format!("{version} {}: {why}", suite[1])),
            }
        }
    }
    Checked::of(wrong, format!("{right} connections of TLS 1.2 and 1.3"))
}

/// Fetches a large file over TLS from `openssl s_server`.
fn exchange(
    key: &Path,
    certificate: &Path,
    settings: &Path,
    ours_serves: bool,
    version: &str,
    suite: [&str; 2],
) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let folder = key.parent().unwrap_or(key).join("www");
    fs::create_dir_all(&folder).map_err(failed)?;
    let text: String = (0..200_000).map(|number| format!("{number}\n")).collect();
    fs::write(folder.join("file"), &text).map_err(failed)?;
    // A port that is free now.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).map_err(failed)?.port().to_string();
    let ours = |command: &mut Command, yes: bool| {
        if yes {
            command.env("OPENSSL_CONF", settings);
        }
    };
    let mut server = Command::new("openssl");
    server.args(["s_server", "-quiet", "-WWW", "-naccept", "2", version, "-port", &port, "-key"]).arg(key);
    server.arg("-cert").arg(certificate).args(suite).current_dir(&folder);
    ours(&mut server, ours_serves);
    let server = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?;
    let server = Stopped(server);
    // The connection that only asks whether it listens is the first of two.
    let listening = (0..100).any(|_| {
        sleep(Duration::from_millis(50));
        TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()
    });
    if !listening {
        return Err("the server does not listen".into());
    }
    let mut client = Command::new("openssl");
    client.args(["s_client", "-quiet", "-no_ign_eof", version, "-CAfile"]).arg(certificate).args(suite);
    client.args(["-verify_return_error", "-servername", "localhost", "-connect", &format!("127.0.0.1:{port}")]);
    ours(&mut client, !ours_serves);
    client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut client = Stopped(client.spawn().map_err(failed)?);
    let mut input = client.0.stdin.take().ok_or("no input")?;
    std::io::Write::write_all(&mut input, b"GET /file HTTP/1.0\r\n\r\n").map_err(failed)?;
    let (mut got, mut output) = (String::new(), client.0.stdout.take().ok_or("no output")?);
    output.read_to_string(&mut got).map_err(failed)?;
    drop((input, server));
    match got.split_once("\r\n\r\n") {
        Some((_, body)) if body == text => Ok(()),
        _ => Err(format!("{} bytes came, not the file", got.len())),
    }
}

/// A process that ends with its owner.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
