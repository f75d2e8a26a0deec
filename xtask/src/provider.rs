//! The OpenSSL provider, which `capi` installed below `prefix`: through EVP, through the program `openssl`, and under
//! TLS.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::{
    levels,
    programs::{STRICT, have, said},
    steps::{Checked, Steps},
};

/// The variable that asks the library for a lower level.
const LEVEL: &str = "SEALWRIGHT_ISA";

/// Returns whether OpenSSL 3 is installed, with which the provider is tested.
pub(crate) fn run(steps: &mut Steps, folder: &Path) -> bool {
    let version = Command::new("openssl").arg("version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if !version.starts_with("OpenSSL 3") {
        steps.skip("OpenSSL provider", "OpenSSL 3 is needed (Debian: apt install openssl libssl-dev)");
        return false;
    }
    let modules = folder.join("prefix/lib/ossl-modules");
    if Path::new("/usr/include/openssl/provider.h").exists() && have("cc") {
        steps.check("OpenSSL provider through EVP", |steps| evp(steps, folder, &modules));
    } else {
        steps.skip("OpenSSL provider through EVP", "OpenSSL's headers are needed (Debian: apt install libssl-dev)");
    }
    steps.check("OpenSSL provider under TLS", |_| tls(folder));
    steps.check("OpenSSL provider under CMS", |_| cms(folder));
    true
}

/// Compares every algorithm with OpenSSL's own, in every way and order of steps, and looks for what they leave in
/// memory.
fn evp(steps: &Steps, folder: &Path, modules: &Path) -> Checked {
    let sanitizers: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    // What resolves a function at its first call saves all registers on the stack.
    let programs = [
        ("provider", sanitizers),
        ("provider_steps", sanitizers),
        ("provider_refusals", sanitizers),
        ("provider_memory", &["-O2", "-Wl,-z,now"]),
    ];
    let checked = programs.into_iter().try_for_each(|(name, options)| {
        let program = compiled(steps, folder, &format!("crates/capi/tests/{name}.c"), options)?;
        at_each_level(&program, modules, &levels::here())
    });
    match checked.and_then(|()| speed(steps, folder, modules)) {
        Ok(()) => Checked::Right("as expected".into()),
        Err(why) => Checked::Wrong(vec![why]),
    }
}

/// Runs a test program at the best level of this machine, and at each lower one.
fn at_each_level(program: &Path, modules: &Path, lower: &[&str]) -> Result<(), String> {
    let command = || {
        let mut command = Command::new(program);
        // OpenSSL does not free all of its own memory at once.
        command.arg(modules).env("ASAN_OPTIONS", "detect_leaks=0").env_remove(LEVEL);
        command
    };
    right(&mut command())?;
    lower.iter().try_for_each(|level| right(command().env(LEVEL, level)))
}

/// Checks that the benchmark of both runs; its figures are not checked.
fn speed(steps: &Steps, folder: &Path, modules: &Path) -> Result<(), String> {
    let program = compiled(steps, folder, "crates/capi/examples/evp_speed.c", &["-O2"])?;
    let table = said(Command::new(&program).arg(modules).arg("0.001"))?;
    let lines = table.lines().count();
    if lines == 15 { Ok(()) } else { Err(format!("evp_speed: {lines} lines: {table}")) }
}

/// Compiles a program of one file for OpenSSL, with warnings as errors.
fn compiled(steps: &Steps, folder: &Path, source: &str, options: &[&str]) -> Result<PathBuf, String> {
    let program = folder.join(Path::new(source).file_stem().unwrap_or_default());
    let mut compile = Command::new("cc");
    compile.args(STRICT).args(["-std=c99", "-D_XOPEN_SOURCE=700"]).args(options).arg("-o").arg(&program);
    said(compile.arg(steps.root().join(source)).arg("-lcrypto")).map(|_| program)
}

/// Runs a test program. A panic of ours looks like a refusal, but is on standard error.
fn right(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|why| why.to_string())?;
    let passed = output.status.success() && output.stderr.is_empty() && output.stdout == b"0 wrong of enough\n";
    if passed { Ok(()) } else { Err(format!("{command:?}: {output:?}")) }
}

/// Files for TLS: the server's key and certificate, a file to fetch, and settings that put our provider first.
pub(crate) struct Tls {
    folder: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) settings: PathBuf,
    text: String,
}

/// The offer of a client: one version and one suite.
pub(crate) type Offer = (&'static str, [&'static str; 2]);

pub(crate) const OFFERS: [Offer; 4] = [
    ("-tls1_3", ["-ciphersuites", "TLS_AES_256_GCM_SHA384"]),
    ("-tls1_3", ["-ciphersuites", "TLS_AES_128_GCM_SHA256"]),
    ("-tls1_2", ["-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"]),
    ("-tls1_2", ["-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"]),
];

impl Tls {
    pub(crate) fn new(folder: &Path) -> Result<Tls, String> {
        let failed = |error: std::io::Error| error.to_string();
        let [key, certificate, settings] = ["tls.key", "tls.pem", "openssl.cnf"].map(|name| folder.join(name));
        let mut make = Command::new("openssl");
        make.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]);
        make.args(["-subj", "/CN=localhost", "-keyout"]).arg(&key).arg("-out").arg(&certificate);
        said(&mut make)?;
        let text = format!(
            "openssl_conf = all\n[all]\nproviders = providers\nalg_section = algorithms\n[algorithms]\n\
             default_properties = ?provider=sealwright\n[providers]\nsealwright = ours\ndefault = theirs\n[ours]\n\
             module = {}\nactivate = 1\n[theirs]\nactivate = 1\n",
            folder.join("prefix/lib/ossl-modules/sealwright.so").display()
        );
        fs::write(&settings, text).map_err(failed)?;
        let text: String = (0..200_000).map(|number| format!("{number}\n")).collect();
        fs::create_dir_all(folder.join("www")).map_err(failed)?;
        fs::write(folder.join("www/file"), &text).map_err(failed)?;
        Ok(Tls { folder: folder.into(), key, certificate, settings, text })
    }

    /// Runs `openssl cms` on `input`, whose ciphers are ours or OpenSSL's; `None` if it fails, whatever it wrote until
    /// then.
    fn cms(&self, words: &[&str], input: &[u8], ours: bool) -> Result<Option<Vec<u8>>, String> {
        let failed = |error: std::io::Error| error.to_string();
        let [from, to, key] = ["cms.in", "cms.out", "cms.key"].map(|name| self.folder.join(name));
        let certificate = self.folder.join("cms.pem");
        if !certificate.exists() {
            // The key of TLS is one for signatures; this kind of key needs no settings of its own here.
            let mut make = Command::new("openssl");
            make.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cms", "-keyout"]);
            said(make.arg(&key).arg("-out").arg(&certificate))?;
        }
        fs::write(&from, input).map_err(failed)?;
        let mut run = Command::new("openssl");
        run.arg("cms").args(words).arg("-in").arg(&from).arg("-out").arg(&to);
        match words.contains(&"-encrypt") {
            true => run.args(["-outform", "DER", "-recip"]).arg(&certificate),
            false => run.args(["-inform", "DER", "-recip"]).arg(&certificate).arg("-inkey").arg(&key),
        };
        if ours {
            run.env("OPENSSL_CONF", &self.settings);
        }
        let ended = run.stdin(Stdio::null()).output().map_err(failed)?;
        if ended.status.success() { fs::read(&to).map(Some).map_err(failed) } else { Ok(None) }
    }

    /// The folder with the file that is fetched, `/file`.
    pub(crate) fn www(&self) -> PathBuf {
        self.folder.join("www")
    }

    /// Fetches the file with `openssl s_client`, whose ciphers are ours or OpenSSL's.
    pub(crate) fn fetch(&self, port: u16, (version, suite): Offer, ours: bool) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut client = Command::new("openssl");
        client.args(["s_client", "-quiet", "-no_ign_eof", version, "-CAfile"]).arg(&self.certificate).args(suite);
        client.args(["-verify_return_error", "-servername", "localhost", "-connect", &format!("127.0.0.1:{port}")]);
        if ours {
            client.env("OPENSSL_CONF", &self.settings);
        }
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut client = Stopped(client.spawn().map_err(failed)?);
        let mut input = client.0.stdin.take().ok_or("no input")?;
        std::io::Write::write_all(&mut input, b"GET /file HTTP/1.0\r\n\r\n").map_err(failed)?;
        let (mut got, output) = (String::new(), client.0.stdout.take().ok_or("no output")?);
        let mut output = BufReader::new(output);
        // The file is longer than what waits in the pipe, so that the client is still there.
        output.read_line(&mut got).map_err(failed)?;
        if !got.is_empty() && client.uses_ours() != ours {
            return Err(format!("{version} {}: the client has our provider: {}", suite[1], !ours));
        }
        output.read_to_string(&mut got).map_err(failed)?;
        drop(input);
        match got.split_once("\r\n\r\n") {
            Some((_, body)) if body == self.text => Ok(()),
            _ => Err(format!("{version} {}: {} bytes came, not the file", suite[1], got.len())),
        }
    }
}

/// That the command of the page shows our provider with these settings, and not with ones that name a module that is
/// not there.
fn listed(tls: &Tls) -> Result<(), String> {
    let text = fs::read_to_string(&tls.settings).map_err(|error| error.to_string())?;
    let without = tls.folder.join("without.cnf");
    fs::write(&without, text.replace("sealwright.so", "none.so")).map_err(|error| error.to_string())?;
    for (settings, there) in [(&tls.settings, true), (&without, false)] {
        let list = Command::new("openssl").args(["list", "-providers"]).env("OPENSSL_CONF", settings).output();
        let list = list.map_err(|error| error.to_string())?;
        if String::from_utf8_lossy(&list.stdout).contains("name: Sealwright\n") != there {
            return Err(format!("openssl list -providers, with the module: {there}: {list:?}"));
        }
    }
    Ok(())
}

/// Connections between an OpenSSL server with our ciphers and a client without them; then the other way round.
fn tls(folder: &Path) -> Checked {
    let tls = match Tls::new(folder) {
        Ok(tls) => tls,
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let (mut wrong, mut right) = (Vec::from_iter(listed(&tls).err()), 0);
    for offer in OFFERS {
        for ours_serves in [true, false] {
            match exchange(&tls, ours_serves, offer) {
                Ok(()) => right += 1,
                Err(why) => wrong.push(why),
            }
        }
    }
    Checked::of(wrong, format!("{right} connections of TLS 1.2 and 1.3"))
}

/// Fetches a large file over TLS from `openssl s_server`.
fn exchange(tls: &Tls, ours_serves: bool, offer: Offer) -> Result<(), String> {
    let port = free_port()?;
    let mut server = Command::new("openssl");
    server.args(["s_server", "-quiet", "-WWW", "-naccept", "2", offer.0, "-port", &port.to_string(), "-key"]);
    server.arg(&tls.key).arg("-cert").arg(&tls.certificate).args(offer.1).current_dir(tls.www());
    if ours_serves {
        server.env("OPENSSL_CONF", &tls.settings);
    }
    // The connection that only asks whether it listens is the first of two.
    let server = Stopped::listening(&mut server, port)?;
    if server.uses_ours() != ours_serves {
        return Err(format!("the server has our provider: {}", !ours_serves));
    }
    let fetched = tls.fetch(port, offer, !ours_serves);
    drop(server);
    fetched
}

/// Messages of CMS, whose text `openssl cms` reads in pieces of 4 KiB and whose tag it asks for at the end alone: what
/// ours cannot open and what is forged must fail, not look like a text of zeros or of nothing.
fn cms(folder: &Path) -> Checked {
    let (mut wrong, mut right) = (Vec::new(), 0);
    let done = Tls::new(folder).and_then(|tls| {
        for len in [0, 1, 3000, 4096, 4097, 8192, 300_000] {
            let text: Vec<u8> = (0..len).map(|at: usize| b'a' + (at % 23) as u8).collect();
            for ours_seals in [true, false] {
                let message = tls.cms(&["-encrypt", "-binary", "-aes-256-gcm"], &text, ours_seals)?;
                let message = message.ok_or_else(|| format!("{len} bytes are not encrypted"))?;
                let mut forged = message.clone();
                // The last byte of the text, or one of the tag behind it.
                let at = forged.len() - if len == 0 { 5 } else { 19 };
                forged[at] ^= 4;
                for (ours, genuine, message) in
                    [(true, true, &message), (true, false, &forged), (false, true, &message), (false, false, &forged)]
                {
                    let opened = tls.cms(&["-decrypt"], message, ours)?;
                    let as_expected = match (ours, genuine, &opened) {
                        (_, false, opened) => opened.is_none(),
                        // In more than one piece, there is none: a text shows that OpenSSL's own was at work.
                        (true, true, None) => len >= 4096,
                        (true, true, Some(_)) if len > 4096 => false,
                        (false, true, None) => false,
                        (_, true, Some(opened)) => *opened == text,
                    };
                    if as_expected {
                        right += 1;
                    } else {
                        let got = opened.map_or(0, |text| text.len());
                        wrong.push(format!("{len} bytes, ours {ours}, genuine {genuine}: {got} bytes and no failure"));
                    }
                }
            }
        }
        Ok(())
    });
    wrong.extend(done.err());
    Checked::of(wrong, format!("{right} messages, genuine and forged, of one piece and of many"))
}

/// A port that is free now.
pub(crate) fn free_port() -> Result<u16, String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|it| it.local_addr())
        .map_or_else(|why| Err(why.to_string()), |at| Ok(at.port()))
}

/// A process that ends with its owner.
pub(crate) struct Stopped(Child);

impl Stopped {
    /// Starts a server and waits until it listens.
    pub(crate) fn listening(server: &mut Command, port: u16) -> Result<Stopped, String> {
        let server = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Stopped(server.map_err(|error| error.to_string())?);
        for _ in 0..100 {
            sleep(Duration::from_millis(50));
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
        }
        Err("the server does not listen".into())
    }

    /// Whether it has loaded our provider. OpenSSL takes its own, and says nothing, where settings name one that is not
    /// there.
    pub(crate) fn uses_ours(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/maps", self.0.id()))
            .is_ok_and(|maps| maps.contains("ossl-modules/sealwright.so"))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process::Command};

    use super::at_each_level;

    #[test]
    fn a_level_at_which_a_program_is_wrong_is_told() {
        let program = env::temp_dir().join(format!("sealwright-levels-{}", std::process::id()));
        let run = |wrong_at: &str, lower: &[&str]| {
            let script = format!("#!/bin/sh\n[ \"$SEALWRIGHT_ISA\" != '{wrong_at}' ] && echo 0 wrong of enough\n");
            let text = program.with_extension("text");
            fs::write(&text, script).expect("a script");
            // Not written by this process: programs that other tests start would hold it open, and so long it cannot be
            // run.
            let made = Command::new("sh")
                .args(["-c", "cp \"$0\" \"$1\" && chmod 700 \"$1\""])
                .args([&text, &program])
                .status();
            assert!(made.is_ok_and(|status| status.success()));
            fs::remove_file(&text).expect("it is there");
            at_each_level(&program, "/none".as_ref(), lower)
        };
        let all = ["portable", "sse"];
        let of = [run("none", &all), run("", &all), run("portable", &all), run("sse", &all), run("sse", &[])];
        fs::remove_file(&program).expect("it is there");
        assert_eq!(of.each_ref().map(Result::is_ok), [true, false, false, false, true], "{of:?}");
        assert!(of[3].as_ref().is_err_and(|why| why.contains("sse")), "{of:?}");
    }
}
