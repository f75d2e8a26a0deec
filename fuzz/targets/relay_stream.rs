//! Any bytes on a connection, in pieces of any size: the relay counts errors or closes it, and still serves the next one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_relay::{Address, Count, Relay, Settings};
use sealwright_session::{Client, Material, Plan, table};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

static RELAY: OnceLock<(Relay, Mutex<Client>)> = OnceLock::new();

fn relay() -> &'static (Relay, Mutex<Client>) {
    RELAY.get_or_init(|| {
        let mut sessions = table(Plan::new("gcm-on64".parse().unwrap(), 4)).unwrap();
        let grants: Vec<_> =
            (0..4).map(|slot| sessions.admit(slot, slot, &Material::random().unwrap()).unwrap()).collect();
        let settings = Settings { max_bad: 3, ..Settings::default() };
        let relay = Relay::start("127.0.0.1:0".parse().unwrap(), 0, settings, vec![sessions]).unwrap();
        (relay, Mutex::new(Client::new(&grants[0])))
    })
}

fuzz_target!(|pieces: Vec<Vec<u8>>| {
    let (relay, client) = relay();
    let mut hostile = TcpStream::connect(relay.address()).unwrap();
    for piece in &pieces {
        // The relay may have closed the connection already
        let _ = hostile.write_all(piece);
    }
    let mut client = client.lock().unwrap();
    let mut stream = TcpStream::connect(relay.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let me = client.session();
    stream.write_all(&client.seal(me, b"\0\0\0\0still there").unwrap()).unwrap();
    let mut frame = vec![0; 16 + Address::LEN + 11 + 16];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(client.open(&mut frame).unwrap(), (me, &b"\0\0\0\0still there"[..]));
    let counts = relay.counts();
    assert!(counts.of(Count::Forwarded) <= counts.of(Count::Opened));
});
