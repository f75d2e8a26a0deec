//! Input to the control plane of a relay and to its metrics, and the files for its TLS.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    path::Path,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use sealwright_relay::{
    Log,
    control::fuzz::{ControlFuzz, FilesFuzz, revoke},
    serve::{Config, Server, init},
};

use crate::files::edited;

/// A folder as `serve --init` makes it, within another.
fn made(folder: &Path, name: &str, clients: &[&str]) -> std::path::PathBuf {
    let path = folder.join(name);
    let clients: Vec<String> = clients.iter().map(|&name| name.to_owned()).collect();
    init(&path, &[], &clients).unwrap();
    path
}

/// Sends arbitrary bytes on a connection to the control plane, arbitrary lines of a client within TLS, and genuine
/// requests that are truncated, repeated, reordered or changed on the way: strangers get alerts, and clients the
/// answers of a model of the relay.
pub(crate) fn control(bytes: &[u8]) {
    static CONTROL: OnceLock<ControlFuzz> = OnceLock::new();
    let control = CONTROL.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let ours = made(folder.path(), "ours", &["alice", "bob", "eve", "*.load.test"]);
        ControlFuzz::new(&ours, &made(folder.path(), "theirs", &["alice"]))
    });
    control.run(bytes);
}

/// Takes arbitrary bytes, or a genuine file with changes, as a file for TLS (an authority, a certificate, a key, a
/// revocation list), either as its text or as the content of its PEM. Also takes them as a client's certificate.
pub(crate) fn certificates(bytes: &[u8]) {
    static FILES: OnceLock<(FilesFuzz, tempfile::TempDir)> = OnceLock::new();
    let (files, _) = FILES.get_or_init(|| {
        let folder = crate::folder::folder();
        let ours = made(folder.path(), "ours", &["alice", "bob"]);
        revoke(&ours, 1, &["bob"]).unwrap();
        (FilesFuzz::new(&ours, &made(folder.path(), "theirs", &["alice"])), folder)
    });
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let which = usize::from(how & 7);
    let (raw, encoded) = (how & 8 != 0, how & 16 != 0);
    let Some((label, pem, der)) = files.genuine(which) else {
        return files.client(&if raw { bytes.to_vec() } else { edited(files.alice(), bytes) });
    };
    let content = match (raw, encoded) {
        (true, _) => bytes.to_vec(),
        (false, true) => edited(der, bytes),
        (false, false) => edited(pem, bytes),
    };
    let text = if encoded {
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(content)).into_bytes()
    } else {
        content
    };
    files.file(which, &text);
}

/// Sends arbitrary bytes on a connection to the metrics, in pieces: there is one complete answer, to the request in the
/// first line.
pub(crate) fn metrics(bytes: &[u8]) {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let ours = made(folder.path(), "ours", &["alice"]);
        let text = std::fs::read_to_string(ours.join("relay.toml")).unwrap();
        let text = ["7600", "7601", "7602"].iter().fold(text, |text, port| text.replace(port, "0"));
        Server::start(&Config::parse(&text, &ours).unwrap(), Arc::new(Log::to(std::io::sink()))).unwrap()
    });
    const STARTS: [&str; 4] = ["", "GET /metrics ", "GET /health ", "GET /"];
    let Some((&[how, piece], rest)) = bytes.split_first_chunk() else { return };
    let mut request = [STARTS[usize::from(how & 3)].as_bytes(), rest].concat();
    if how & 4 != 0 {
        request.truncate(8187);
        request.extend(b"\r\n\r\n");
    }
    // Bytes after a request are not read, and may destroy the answer on its way
    let end = request.windows(4).position(|end| end == b"\r\n\r\n");
    request.truncate(end.map_or(8191, |end| end + 4));
    let begun = Instant::now();
    let mut stream = TcpStream::connect(server.addresses().metrics.unwrap()).unwrap();
    stream.set_nodelay(true).unwrap();
    for piece in request.chunks(1 + 8 * usize::from(piece)) {
        stream.write_all(piece).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    if begun.elapsed() > Duration::from_secs(2) {
        // The relay waits no longer for the rest of a request, and answers what came: other programs had the processors
        return;
    }
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.lines().any(|line| line == format!("Content-Length: {}", body.len())), "{head}");
    let (status, start) = if request.starts_with(b"GET /metrics ") {
        ("HTTP/1.1 200 OK\r\n", "# HELP sealwright_frames_received_total ")
    } else if request.starts_with(b"GET /health ") {
        ("HTTP/1.1 200 OK\r\n", "ok\n")
    } else {
        ("HTTP/1.1 404 Not Found\r\n", "try ")
    };
    assert!(answer.starts_with(status) && body.starts_with(start), "{answer}");
}
