//! The operators' interface to a running relay: a Unix socket that only its owner may use. A request is one JSON
//! object; the answer consists of lines of JSON.

use std::{
    fs::{self, Permissions},
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::{SocketAddr, UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    time::Duration,
};

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    control::ACCEPT_RETRY_WAIT,
    data::Count,
    serve::{metrics::resident_bytes, serve_error::ServeError, server::Server},
};

/// Time limit of one exchange.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(30);
/// The highest process id on Linux.
const MAX_PROCESS_ID: u32 = 4_194_304;
/// The longest request.
const MAX_REQUEST: u64 = 4096;

/// Events that reach the main loop while the relay serves.
#[derive(Debug)]
pub(super) enum Event {
    Signal(Signal),
    /// A request of an operator; the answer is one value per line.
    Admin(AdminRequest, SyncSender<Vec<Value>>),
}

/// What operators ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AdminRequest {
    /// How the relay is.
    Status,
    /// All open sessions.
    List,
    /// Read the configuration again.
    Reload,
}

/// The listening socket, removed on drop: its path, and the identity (device and inode) of its file.
pub(super) struct AdminSocket(PathBuf, (u64, u64));

impl AdminSocket {
    /// Listens, and passes requests to the main loop.
    pub(super) fn open(path: &Path, events: SyncSender<Event>) -> io::Result<AdminSocket> {
        // Bound under another name, so that it has its mode before it can be found, and then renamed over the socket of
        // a relay that was killed
        let new = beside(path, std::process::id());
        // Any other file stays, and binding reports that it exists
        if is_replaceable(&new) {
            match fs::remove_file(&new) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let listener = UnixListener::bind(&new)?;
        let placed = || {
            fs::set_permissions(&new, Permissions::from_mode(0o600))?;
            let file = identity(&new)?;
            fs::rename(&new, path).map(|()| file)
        };
        // A socket that could not be put in place is removed
        let file = placed().inspect_err(|_| drop(fs::remove_file(&new)))?;
        std::thread::Builder::new().name("admin".into()).spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    // One exchange at a time; clients that leave or send an invalid request get no answer
                    Ok(stream) => drop(answer(&stream, &events)),
                    // No descriptors: clients wait
                    Err(_) => std::thread::sleep(ACCEPT_RETRY_WAIT),
                }
            }
        })?;
        Ok(AdminSocket(path.to_owned(), file))
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        // The socket of a relay that was started since then stays
        if identity(&self.0).is_ok_and(|file| file == self.1) {
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// Refuses paths at which no socket can be made or something else exists.
pub(super) fn check(path: &Path) -> Result<(), ServeError> {
    let has_room = |path: &Path| SocketAddr::from_pathname(path).is_ok();
    if !has_room(path) || !has_room(&beside(path, MAX_PROCESS_ID)) {
        return Err(ServeError::LongPath(path.to_owned()));
    }
    if !is_replaceable(path) {
        return Err(ServeError::NoSocket(path.to_owned()));
    }
    Ok(())
}

/// The name of a socket until it is renamed to its path. It is short, because socket paths are limited to few bytes.
fn beside(path: &Path, process: u32) -> PathBuf {
    path.with_file_name(format!(".{process}"))
}

/// Whether a socket may be put at a path: nothing is there, or another socket, such as that of a relay that was killed.
fn is_replaceable(path: &Path) -> bool {
    // A path that cannot be inspected now may be accessible when the relay starts
    fs::symlink_metadata(path).map_or(true, |found| found.file_type().is_socket())
}

/// The identity of the file at a path: device and inode.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

fn answer(mut stream: &UnixStream, events: &SyncSender<Event>) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.set_write_timeout(Some(EXCHANGE_TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_REQUEST)).read_line(&mut line)?;
    let answers = match serde_json::from_str(&line) {
        Ok(request) => {
            let (reply, answers) = sync_channel(1);
            // A relay that drains takes no more requests
            let sent = events.send(Event::Admin(request, reply)).map_err(|_| RecvTimeoutError::Disconnected);
            sent.and_then(|()| answers.recv_timeout(EXCHANGE_TIMEOUT)).unwrap_or_else(|why| {
                let why = match why {
                    RecvTimeoutError::Disconnected => "it is shutting down",
                    RecvTimeoutError::Timeout => "it took too long",
                };
                vec![json!({ "error": why })]
            })
        }
        Err(_) => vec![json!({ "error": "unknown request" })],
    };
    let text: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
    stream.write_all(text.as_bytes())
}

/// The answer to a status request.
pub(super) fn status(server: &Server) -> Value {
    let (relay, config) = (server.relay(), server.config());
    let counts = relay.counts();
    let dropped: serde_json::Map<String, Value> =
        Count::dropped().map(|what| (what.name().to_owned(), counts.of(what).into())).collect();
    let (numbers, name_bytes) = server.names();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "seconds": server.started().elapsed().as_secs(),
        "healthy": server.trouble().is_none(),
        "scheme": config.scheme.to_string(),
        "node": config.node,
        "threads": config.threads,
        "sessions": relay.live(),
        "numbers": numbers,
        "session_slots": config.sessions,
        "connections": relay.connections(),
        "name_bytes": name_bytes,
        "resident_bytes": resident_bytes(),
        "forwarded": counts.of(Count::Forwarded),
        "dropped": dropped,
    })
}

/// All open sessions, one per line.
pub(super) fn list(server: &Server) -> Vec<Value> {
    let line = |session: crate::control::Listed| {
        json!({
            "name": session.name,
            "tenant": session.tenant,
            "session": session.session,
            "from": session.from.to_string(),
            "seconds": session.age.as_secs(),
        })
    };
    server.list().into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;
    use crate::{
        client::Identity,
        log::Log,
        serve::{
            ask::{AdminError, ask},
            config::Config,
            init,
            run::{Signals, run},
        },
    };

    #[test]
    fn status_and_list_tell_of_an_open_session() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        init(&trial, &[], &["alice".to_owned()]).unwrap();
        let text = fs::read_to_string(trial.join("relay.toml")).unwrap();
        let text = ["7600", "7601", "7602"].iter().fold(text, |text, port| text.replace(port, "0"));
        let config = Config::parse(&text, &trial).unwrap();
        let server = Server::start(&config, Arc::new(Log::to(io::sink()))).unwrap();
        assert!(list(&server).is_empty());
        let mut alice = Identity::read(&trial.join("alice.toml")).unwrap();
        alice.relay = format!("localhost:{}", server.addresses().control.port());
        let session = alice.open(&[]).unwrap().address.session;
        let [line] = &list(&server)[..] else { panic!("one session") };
        assert_eq!(
            (&line["name"], &line["session"], &line["from"]),
            (&json!("alice"), &json!(session), &json!("127.0.0.1"))
        );
        let status = status(&server);
        assert_eq!((&status["sessions"], &status["healthy"], &status["numbers"]), (&json!(1), &json!(true), &json!(1)));
    }

    #[test]
    fn who_gets_no_answer_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.sock");
        let (events, asked) = sync_channel(8);
        let socket = AdminSocket::open(&path, events).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let relay = std::thread::spawn(move || {
            // While the relay drains, nobody answers
            for _ in 0..3 {
                drop(asked.recv().unwrap());
            }
        });
        for request in [AdminRequest::Reload, AdminRequest::List, AdminRequest::Status] {
            assert!(
                matches!(ask(&path, request), Err(AdminError::Refused { why, .. }) if why == "it is shutting down")
            );
        }
        relay.join().unwrap();
        // And after that, nobody listens
        assert!(matches!(ask(&path, AdminRequest::List), Err(AdminError::Refused { .. })));
        drop(socket);
        assert!(!path.exists() && ask(&path, AdminRequest::List).is_err());
    }

    /// A relay that ends in between closes without an answer. For a list that is a valid answer (no sessions), for
    /// other requests it is not.
    #[test]
    fn nothing_is_an_answer_to_one_question_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let silent = std::thread::spawn(move || {
            for stream in listener.incoming().take(3) {
                BufReader::new(stream.unwrap()).read_line(&mut String::new()).unwrap();
            }
        });
        assert_eq!(ask(&path, AdminRequest::List).unwrap(), Vec::<Value>::new());
        for request in [AdminRequest::Reload, AdminRequest::Status] {
            assert!(matches!(ask(&path, request), Err(AdminError::Socket { .. })));
        }
        silent.join().unwrap();
    }

    /// A path given by mistake may be that of the configuration.
    #[test]
    fn nothing_but_a_socket_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        init(&trial, &[], &[]).unwrap();
        let text = fs::read_to_string(trial.join("relay.toml")).unwrap();
        let text = ["7600", "7601", "7602"].iter().fold(text, |text, port| text.replace(port, "0"));
        let with =
            |admin: &str| Config::parse(&text.replace("\"relay.sock\"", &format!("\"{admin}\"")), &trial).unwrap();
        assert!(text.contains("\"relay.sock\"") && with("relay.sock").check().is_ok());
        let refused = with("relay.key").check().unwrap_err();
        assert!(matches!(&refused, ServeError::NoSocket(path) if path.ends_with("relay.key")), "{refused}");
        fs::write(trial.join("relay.toml"), text.replace("relay.sock", "relay.key")).unwrap();
        let key = fs::read(trial.join("relay.key")).unwrap();
        let signals = Signals::take().unwrap();
        let refused = run(&trial.join("relay.toml"), &signals, Arc::new(Log::to(io::sink()))).unwrap_err();
        assert!(matches!(refused, ServeError::NoSocket(_)), "{refused}");
        assert_eq!(fs::read(trial.join("relay.key")).unwrap(), key);
        // Nor a file next to it
        fs::write(trial.join("relay.new"), "somebody's").unwrap();
        let socket = AdminSocket::open(&trial.join("relay.sock"), sync_channel(1).0).unwrap();
        assert_eq!(fs::read_to_string(trial.join("relay.new")).unwrap(), "somebody's");
        assert!(with("relay.sock").check().is_ok(), "that of a relay which runs");
        drop(socket);
        let left: Vec<_> = fs::read_dir(&trial).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
    }

    /// The temporary name is short enough wherever the path of the socket is.
    #[test]
    fn a_path_is_taken_that_has_just_room_and_a_longer_one_refused() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let trial = folder.path().join("trial");
        init(&trial, &[], &[]).unwrap();
        let text = fs::read_to_string(trial.join("relay.toml")).unwrap();
        // A path of this many bytes with this last component
        let path_of = |bytes: usize, name: &str| {
            let folder = trial.join("d".repeat(bytes - name.len() - 2 - trial.as_os_str().len()));
            fs::create_dir_all(&folder).unwrap();
            folder.join(name)
        };
        let check = |path: &Path| {
            let text = text.replace("\"relay.sock\"", &format!("\"{}\"", path.display()));
            Config::parse(&text, &trial).unwrap().check()
        };
        for path in [path_of(107, "relay.sock"), path_of(100, "s")] {
            check(&path).unwrap();
            drop(AdminSocket::open(&path, sync_channel(1).0).unwrap());
        }
        for path in [path_of(108, "relay.sock"), path_of(101, "s")] {
            assert!(matches!(check(&path).unwrap_err(), ServeError::LongPath(long) if long == path));
        }
        // A file that is not a socket stays, under the temporary name as well
        let taken = trial.join(format!(".{}", std::process::id()));
        fs::write(&taken, "somebody's").unwrap();
        assert!(AdminSocket::open(&trial.join("relay.sock"), sync_channel(1).0).is_err());
        assert_eq!(fs::read_to_string(&taken).unwrap(), "somebody's");
    }

    #[test]
    fn the_socket_of_a_relay_that_was_started_since_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.sock");
        let open = || AdminSocket::open(&path, sync_channel(1).0).unwrap();
        let (old, new) = (open(), open());
        drop(old);
        assert!(path.exists());
        drop(new);
        assert!(!path.exists());
    }
}
