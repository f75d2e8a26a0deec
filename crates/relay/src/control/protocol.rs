//! Requests and responses over TLS: one JSON object a line, in both directions.

use serde::{Deserialize, Serialize};

use crate::address::Address;

/// The label under which both ends export key material (RFC 8446, 7.5). The context is the session's number and how
/// many sessions this connection opened before, both in network order.
pub const LABEL: &[u8] = b"EXPORTER-sealwright-session";

/// The longest line, in bytes.
pub const MAX_LINE: usize = 4096;

/// Why a session is refused that the client may open a minute later.
pub(crate) const TOO_OFTEN: &str = "this session, or others of this certificate, were opened too often; wait a minute";

/// What a client requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Request {
    /// Open the session of this name, with keys of this connection. An earlier session of the name ends.
    Open(String),
    /// Look up the address of the client with this name.
    Find(String),
}

/// What the relay responds.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Response {
    /// The session is open.
    Opened {
        /// Its number.
        session: u32,
        /// The generation of the number.
        generation: u32,
        /// The host for frames, if it is not the host of the control connection.
        host: Option<String>,
        /// The TCP port there.
        port: u16,
        /// The UDP port there, if the relay receives datagrams.
        udp: Option<u16>,
        /// Whether other clients may be at other nodes, and move: look them up again when they are silent.
        mesh: bool,
        /// Number of workers of the relay. All sessions on one connection belong to one worker.
        workers: u32,
        /// What the client needs beside the exported key material, in hexadecimal. A secret.
        grant: String,
    },
    /// The address of the client. One that the configuration spells out has an address also before it comes.
    Found(Address),
    /// The client exists, but has no session now: look it up again later.
    Absent(String),
    /// Why the request was refused.
    Refused(String),
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // The grant holds keys
            Response::Opened { session, generation, .. } => f
                .debug_struct("Opened")
                .field("session", session)
                .field("generation", generation)
                .finish_non_exhaustive(),
            Response::Found(address) => f.debug_tuple("Found").field(address).finish(),
            Response::Absent(name) => f.debug_tuple("Absent").field(name).finish(),
            Response::Refused(why) => f.debug_tuple("Refused").field(why).finish(),
        }
    }
}

/// The context of the exporter.
pub fn context(session: u32, opened_before: u32) -> [u8; 8] {
    let mut context = [0; 8];
    context[..4].copy_from_slice(&session.to_be_bytes());
    context[4..].copy_from_slice(&opened_before.to_be_bytes());
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both numbers in network order.
    #[test]
    fn each_session_of_a_connection_has_its_context() {
        assert_eq!(context(0x1234_5678, 0x9abc_def0), [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0]);
    }

    #[test]
    fn lines_look_as_documented() {
        let line = |request: &Request| serde_json::to_string(request).expect("a string in an object");
        assert_eq!(line(&Request::Open("alice".into())), r#"{"open":"alice"}"#);
        assert_eq!(line(&Request::Find("bob".into())), r#"{"find":"bob"}"#);
        let found = Response::Found(Address { session: 7, generation: 8 });
        let line = serde_json::to_string(&found).expect("numbers in an object");
        assert_eq!(line, r#"{"found":{"session":7,"generation":8}}"#);
    }
}
