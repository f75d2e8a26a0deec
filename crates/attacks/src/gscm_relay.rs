//! The attack of `gscm-keys` on a real relay: the insider is a client with a certificate of its own, and eavesdrops on
//! the victim's connection.

use std::{
    error::Error,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::Arc,
    thread,
};

use sealwright_relay::{
    Log as Events,
    client::{Identity, Session},
    serve::{Config, Server, init},
};
use sealwright_session::frame;

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    gscm_keys::{HINT, recover},
    tools::cluster::{Capture, Seen, main_key, second_key},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "gscm-relay",
    title: "A client of a relay that runs GSCM reads what another client sends",
    knows: "its own certificate and session, and the bytes between the victim and the relay",
    stopped_by: "the relay's default scheme, under which clients share no key",
    page: "gscm-keys.md",
    figure: Axes { spent: "guesses of four bytes", gained: "bits of K2 known" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    if size == Size::Small {
        log.reduced = Some(HINT);
    }
    let weak = "scheme = \"gscm(clmul)\"\nresearch = true\n";
    log.trial(Target::Weak, "a relay that runs gscm(clmul)", |cost| attack(weak, size, cost))?;
    log.trial(Target::Strong, "a relay with the default scheme", |cost| attack("", Size::Small, cost))
}

fn attack(settings: &str, size: Size, cost: &mut Cost) -> Result<(bool, String), AttackError> {
    let capture = capture(settings, cost).map_err(AttackError::Relay)?;
    Ok(recover(&capture, &capture.of_masks(), 5, size, cost))
}

/// Starts a relay with two clients, of which one sends frames while the other eavesdrops on its connection.
fn capture(settings: &str, cost: &mut Cost) -> Result<Capture, Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let tap = TcpListener::bind("127.0.0.1:0")?;
    let server = serve(&folder.path().join("trial"), settings, tap.local_addr()?.port())?;
    let frames = server.addresses().frames;
    let identity = |name: &str| -> Result<Identity, Box<dyn Error + Send + Sync>> {
        let mut identity = Identity::read(&folder.path().join(format!("trial/{name}.toml")))?;
        identity.relay = format!("localhost:{}", server.addresses().control.port());
        identity.research = true;
        Ok(identity)
    };
    let (_, own) = identity("mallory")?.granted()?;
    let (mut victim, secret) = identity("alice")?.granted()?;
    let listener = thread::spawn(move || listen(&tap, TcpStream::connect(frames)?));
    let mut texts = talk(&mut victim, cost)?;
    let captured = listener.join().map_err(|_| "the listener failed")??;
    let mut seen = Vec::new();
    let mut rest = &captured[..];
    while let Some(header) = frame::first(rest)? {
        let (packet, behind) = rest.split_at(header.frame_len());
        seen.push(Seen::of(packet));
        rest = behind;
    }
    // 256 consecutive packets whose numbers differ only in the last byte
    let start = seen.iter().position(|packet| packet.number().is_multiple_of(256)).ok_or("too few frames")?;
    let (seen, texts) = (seen.drain(start..start + 256).collect(), texts.drain(start..start + 256).collect());
    Ok(Capture { main_key: main_key(&own), known: None, seen, texts, secret: second_key(&secret) })
}

/// A relay whose clients connect to the port of the tap.
fn serve(folder: &Path, settings: &str, tap: u16) -> Result<Server, Box<dyn Error + Send + Sync>> {
    init(folder, &[], &["alice".to_owned(), "mallory".to_owned()])?;
    let path = folder.join("relay.toml");
    let text = std::fs::read_to_string(&path)?;
    let text = [":7600", ":7601", ":7602"].iter().fold(text, |text, port| text.replace(port, ":0"));
    let kept: Vec<&str> =
        text.lines().filter(|line| settings.is_empty() || !line.trim_start().starts_with("scheme")).collect();
    // One worker, so that both clients are in one cluster.
    let head = format!("public = \"127.0.0.1:{tap}\"\nthreads = 1\n{settings}");
    std::fs::write(&path, format!("{head}{}\n", kept.join("\n")))?;
    Ok(Server::start(&Config::read(&path)?, Arc::new(Events::to(std::io::sink())))?)
}

/// Forwards a connection to the relay and back; returns what the client sent.
fn listen(tap: &TcpListener, relay: TcpStream) -> std::io::Result<Vec<u8>> {
    let (mut client, _) = tap.accept()?;
    let (mut back, mut answers) = (client.try_clone()?, relay.try_clone()?);
    thread::spawn(move || std::io::copy(&mut answers, &mut back));
    let (mut captured, mut buffer, mut relay) = (Vec::new(), vec![0; 1 << 16], relay);
    loop {
        let read = client.read(&mut buffer)?;
        if read == 0 {
            return Ok(captured);
        }
        captured.extend_from_slice(&buffer[..read]);
        relay.write_all(&buffer[..read])?;
    }
}

/// The victim sends 512 frames to itself and reads what comes back; returns what it sent.
fn talk(victim: &mut Session, cost: &mut Cost) -> Result<Vec<Vec<u8>>, Box<dyn Error + Send + Sync>> {
    let mut line = TcpStream::connect(victim.frames)?;
    let (address, mut texts) = (victim.address, Vec::new());
    for number in 0..512 {
        let data = [&address.generation.to_be_bytes()[..], format!("secret number {number}").as_bytes()].concat();
        let sent = victim.client.seal(address.session, &data)?;
        line.write_all(&sent)?;
        let mut returned = vec![0; sent.len()];
        line.read_exact(&mut returned)?;
        let (_, read) = victim.client.open(&mut returned)?;
        if read != data {
            return Err("the relay returned another text".into());
        }
        texts.push(frame::payload(&frame::unsealed(address.session, &data)).to_vec());
        cost.queries += 1;
    }
    Ok(texts)
}
