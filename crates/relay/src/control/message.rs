//! What is asked and answered over TLS: one JSON object a line, in both directions.

use serde::{Deserialize, Serialize};

/// The label under which both ends export key material (RFC 8446, 7.5). The context is the session's number and how
/// many sessions this connection opened before, both in network order.
pub const LABEL: &[u8] = b"EXPORTER-sealwright-session";

/// The longest line.
pub const LONGEST: usize = 4096;

/// A client asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Open the session of this name, with keys of this connection; a session of that name before ends.
    Open(String),
    /// Which number has the session of this name?
    Find(String),
}

/// The relay answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is open.
    Opened {
        /// Its number.
        session: u32,
        /// Where frames go, if not to the host of the control connection.
        host: Option<String>,
        /// The port there.
        port: u16,
        /// The port there for datagrams, if the relay takes any.
        udp: Option<u16>,
        /// Whether other clients may be at other relays, and move: ask for them again when they are silent.
        fleet: bool,
        /// Workers of the relay: a connection carries sessions of one.
        workers: u32,
        /// What the client must know beside the exported key material, in hexadecimal. A secret.
        grant: String,
    },
    /// The number of the session of that name.
    Found(u32),
    /// Why not.
    Refused(String),
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

    #[test]
    fn lines_look_as_documented() {
        let line = |ask: &Ask| serde_json::to_string(ask).expect("a string in an object");
        assert_eq!(line(&Ask::Open("alice".into())), r#"{"open":"alice"}"#);
        assert_eq!(line(&Ask::Find("bob".into())), r#"{"find":"bob"}"#);
        assert_eq!(serde_json::to_string(&Answer::Found(7)).expect("a number in an object"), r#"{"found":7}"#);
    }
}
