//! Fuzz target: a client that opens its session. Whatever the relay answers, the client ends with the session that the
//! answer describes, or with an error.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use sealwright_session::{Grant, Material, Plan, table};

use super::{
    control_client::{granted, read_response},
    identity::ClientError,
};
use crate::control::protocol::Response;

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// The most bytes that arrive at once.
const PIECE: usize = 700;

/// Reads at most a piece at a time.
struct Pieces<'a>(&'a [u8]);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = buffer.len().min(PIECE);
        self.0.read(&mut buffer[..len])
    }
}

/// An address that needs no name look-up.
fn address(host: &str) -> Result<SocketAddr, ClientError> {
    host.parse().map_err(|_| ClientError::RelayAddress(host.to_owned()))
}

/// Feeds a line to the client and checks what it makes of it.
fn taken(line: &[u8]) {
    let Ok(response) = read_response(&mut Pieces(line)) else { return };
    let said = response.clone();
    let Ok((mut session, grant)) = granted(response, PEER, false, address) else { return };
    assert!(!session.spec.research_only(), "nobody asked for {}", session.spec);
    let Response::Opened { session: number, generation, host, port, udp, mesh, workers, .. } = said else {
        panic!("no session was opened")
    };
    assert!(workers > 0 && session.workers == workers && session.mesh == mesh && session.found.is_empty());
    assert_eq!((session.address.session, session.address.generation), (number, generation));
    assert_eq!((session.client.session(), grant.session(), session.spec), (number, number, grant.spec()));
    assert!(session.frames.port() == port && (host.is_some() || session.frames.ip() == PEER));
    assert_eq!(session.udp, udp.map(|port| SocketAddr::new(session.frames.ip(), port)));
    session.client.seal(number, b"hello").expect("a new client has keys");
}

/// A genuine answer with the fields that these bytes change, and whether a client must accept it.
fn answer_of([what, with]: [u8; 2]) -> (Response, bool) {
    let spec = "gcm-on64".parse().expect("a scheme");
    let mut sessions = table(Plan::new(spec, 4)).expect("a small table");
    let grant = sessions.admit(1, 1, &Material::from_bytes(&[7; Material::LEN])).expect("a free slot");
    let mut digits = base16ct::lower::encode_string(&grant.to_bytes()[..]);
    let at = usize::from(with) % digits.len();
    let mut session = 1;
    match what & 7 {
        1 => session = u32::from(with),
        2 => digits.truncate(at),
        3 => digits.push_str("00"),
        4 => digits.replace_range(at..=at, "g"),
        5 => digits.make_ascii_uppercase(),
        _ => {}
    }
    let host = ["127.0.0.1", "[::1]", "::1", "relay.example"][usize::from(with) % 4];
    let host = (what & 32 != 0).then(|| host.to_owned());
    let resolves = host.as_deref().is_none_or(|host| host == "127.0.0.1" || host == "[::1]");
    let workers = u32::from(what >> 6);
    let udp = (what & 8 != 0).then_some(u16::from(with));
    let whole = session == 1 && digits.len() == 2 * Grant::LEN && !digits.contains('g');
    let response = Response::Opened {
        session,
        generation: 9,
        host,
        port: 7600,
        udp,
        mesh: what & 16 != 0,
        workers,
        grant: digits,
    };
    (response, whole && resolves && workers > 0)
}

/// Feeds any bytes to the client as the relay's output; the first two also select a changed genuine answer.
pub fn answer(bytes: &[u8]) {
    taken(bytes);
    let Some(&change) = bytes.first_chunk() else { return };
    let (response, good) = answer_of(change);
    let mut line = serde_json::to_vec(&response).expect("words and numbers");
    line.push(b'\n');
    assert!(read_response(&mut Pieces(&line)).is_ok_and(|read| read == response));
    taken(&line);
    assert_eq!(granted(response, PEER, false, address).is_ok(), good, "{change:?}");
}
