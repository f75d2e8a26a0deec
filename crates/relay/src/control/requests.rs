//! The requests of clients: to open a session, and to look up others.

use std::{sync::Arc, time::Instant};

use rustls::ServerConnection;
use sealwright_session::{Grant, Material, SessionError};
use zeroize::Zeroizing;

use crate::{
    address::Address,
    control::{
        names::{Number, NumberError, OpenSession},
        protocol::{self, Response},
        server::{Client, Inner, Shared},
        stats::one,
        tls,
    },
    data::AdmitError,
    policy::Class,
};

/// The most names of a certificate in a log line.
const MAX_LOGGED_NAMES: usize = 8;
/// The answer on a connection whose client certificate has become invalid since the handshake.
const NOT_VALID: &str = "your certificate is not valid any more";

impl Inner {
    /// Opens the session of a name, if the client may have it.
    pub(super) fn open(&self, name: &str, connection: &ServerConnection, client: &mut Client) -> Response {
        self.try_open(name, connection, client).unwrap_or_else(|refusal| refusal)
    }

    fn try_open(&self, name: &str, connection: &ServerConnection, client: &mut Client) -> Result<Response, Response> {
        if !client.certificate().is_some_and(|certificate| tls::names(certificate, name)) {
            return Err(self.denied(name, client, "your certificate does not name this client"));
        }
        if !self.is_still_valid(client) {
            return Err(self.denied(name, client, NOT_VALID));
        }
        let (number, grant) = self.number_with_keys(name, connection, client)?;
        let class = self.record_opening(name, number, grant.epoch(), client)?;
        let address = self.address(number);
        if class != client.class {
            // The rules may have changed as well
            self.shared.relay.set_class(address, class);
        }
        one(&self.shared.stats.opened);
        let from = client.from.to_string();
        let about = [("name", name.into()), ("session", address.session.into()), ("from", from.into())];
        self.shared.log.say("opened", &about);
        Ok(self.opened(address, &grant))
    }

    /// Gives the name a number, and the number keys.
    fn number_with_keys(
        &self,
        name: &str,
        connection: &ServerConnection,
        client: &mut Client,
    ) -> Result<(Number, Grant), Response> {
        let number = {
            let mut current = self.current();
            let limits = current.limits.open;
            current.names.number_to_open(name, &client.chain, &limits, Instant::now())
        };
        let mut number = number.map_err(|why| self.no_number(name, client, why))?;
        let mut granted = self.admit(name, number, connection, client);
        while let Some(Err(AdmitError::Session(SessionError::Exhausted))) = granted {
            // The number's epochs are used up: the client gets another number, which may be used up as well, and the
            // session under the old one must end. The certificate's limit of sessions bounds this loop
            let renewed = {
                let mut current = self.current();
                let limits = current.limits.open;
                current.names.renew(name, number, &client.chain, &limits)
            };
            self.end(name, self.address(number));
            number = renewed.map_err(|why| self.no_number(name, client, why))?;
            granted = self.admit(name, number, connection, client);
        }
        let why = match granted {
            Some(Ok(grant)) => return Ok((number, grant)),
            Some(Err(error)) => format!("the session cannot be opened: {error}"),
            None => "no keys could be agreed on".to_owned(),
        };
        self.current().names.not_opened(name, number);
        Err(self.denied(name, client, &why))
    }

    /// Makes the session known, and returns the class of its client; or takes the keys back, if the client may not have
    /// it any more. Since the number was looked up, the configuration may have changed, or another client may have
    /// opened the session.
    fn record_opening(&self, name: &str, number: Number, epoch: u16, client: &mut Client) -> Result<Class, Response> {
        let address = self.address(number);
        let open = OpenSession { since: Instant::now(), from: client.from.ip(), chain: client.chain.clone(), epoch };
        let mut current = self.current();
        while !Arc::ptr_eq(&current.tls.config, &client.verified) {
            drop(current);
            if !self.is_still_valid(client) {
                self.take_back(name, number, epoch);
                return Err(self.denied(name, client, NOT_VALID));
            }
            current = self.current();
        }
        let limits = current.limits.open;
        let opened = current.names.opened_within(name, number, open, &limits);
        // Under the lock, so that no removal of the name can be announced before its opening
        match opened {
            Ok(()) => self.shared.directory.iter().for_each(|directory| directory.opened(name, address, epoch)),
            // A session that the name had before has ended
            Err(NumberError::Share) => {
                self.shared.directory.iter().for_each(|directory| directory.closed(name, address));
            }
            Err(_) => {}
        }
        let class = opened.map(|()| current.policy.class(name));
        drop(current);
        class.map_err(|why| {
            self.shared.relay.remove_keys(address, epoch);
            self.no_number(name, client, why)
        })
    }

    /// Removes keys of a client that may not have them. Issuing them replaced the keys of any session that the name
    /// had; but a later opening may have replaced them in turn.
    fn take_back(&self, name: &str, number: Number, epoch: u16) {
        {
            let (address, mut current) = (self.address(number), self.current());
            let ended = current.names.taken_back(name, number, epoch);
            self.shared.relay.remove_keys(address, epoch);
            let directory = self.shared.directory.as_ref().filter(|_| ended);
            directory.iter().for_each(|directory| directory.closed(name, address));
        }
        // Its earlier sessions could not be ended while this one was being opened
        self.check_sessions(&|| ());
    }

    /// What a client is told of its session.
    fn opened(&self, address: Address, grant: &Grant) -> Response {
        let Shared { relay, directory, frames, .. } = &self.shared;
        let (host, port) = frames.clone();
        let shard = relay.layout().locate(address.session).map_or(0, |(shard, _)| shard);
        Response::Opened {
            session: address.session,
            generation: address.generation,
            host,
            port,
            udp: relay.udp(shard).map(|address| address.port()),
            mesh: directory.is_some(),
            workers: relay.layout().shards(),
            grant: base16ct::lower::encode_string(&grant.to_bytes()[..]),
        }
    }

    /// Whether a client's certificate is still valid under the present authorities and revocation lists, which may have
    /// changed since the handshake. Expiry since then is left to [`Inner::check_sessions`].
    fn is_still_valid(&self, client: &mut Client) -> bool {
        let tls = self.current().tls.clone();
        // Verification is slow and must not hold the lock on the current state
        let is_valid = Arc::ptr_eq(&tls.config, &client.verified) || tls.is_valid(&client.chain);
        if is_valid {
            client.verified = tls.config;
        }
        is_valid
    }

    /// Gives the session of this number keys exported from the connection; `None` if TLS exports none.
    fn admit(
        &self,
        name: &str,
        number: Number,
        connection: &ServerConnection,
        client: &mut Client,
    ) -> Option<Result<Grant, AdmitError>> {
        let address = self.address(number);
        let context = protocol::context(address.session, client.opened);
        let exported = Zeroizing::new([0; Material::LEN]);
        let exported = connection.export_keying_material(exported, protocol::LABEL, Some(&context)).ok()?;
        client.opened += 1;
        client.class = self.current().policy.class(name);
        let admitted = self.shared.relay.admit_as(address, client.class, Material::from_bytes(&exported));
        Some(admitted.map(|(grant, others)| {
            self.log_replaced(others);
            grant
        }))
    }

    /// Looks up a name, if the client may speak to it.
    pub(super) fn find(&self, name: &str, client: &mut Client) -> Response {
        if !self.is_still_valid(client) {
            return self.denied(name, client, NOT_VALID);
        }
        let current = self.current();
        let dns_names = client.certificate().map(tls::dns_names).unwrap_or_default();
        let known: Vec<&String> = dns_names.iter().filter(|name| current.names.knows(name)).collect();
        if known.is_empty() {
            drop(current);
            return self.denied(name, client, "your certificate names no client of this relay");
        }
        let policy = current.policy.clone();
        // Evaluating rules is slow and must not hold the lock on the current state
        drop(current);
        if !known.iter().any(|dns_name| policy.may_find(dns_name, name)) {
            return self.denied(name, client, "no rule of this relay lets you speak to this client");
        }
        if let Some(address) = self.shared.directory.as_ref().and_then(|directory| directory.find(name)) {
            return Response::Found(address);
        }
        // Only names that a certificate can bear are looked up: a wildcard also matches others, and a response with
        // such a name might not fit into a line
        let found = if tls::is_name(name) { self.current().names.find(name) } else { Err(NumberError::Unknown) };
        match found {
            Ok(number) => Response::Found(self.address(number)),
            Err(why) => self.no_number(name, client, why),
        }
    }

    fn no_number(&self, name: &str, client: &Client, why: NumberError) -> Response {
        let why = match why {
            NumberError::Absent => return Response::Absent(name.to_owned()),
            NumberError::Unknown => "this relay does not know that name",
            NumberError::Revoked => "this name was revoked",
            NumberError::Full => "all sessions of this relay are taken",
            NumberError::Share => "this certificate has all the sessions that it may have",
            NumberError::TooOften => protocol::TOO_OFTEN,
            NumberError::Superseded => "another client opened this session at the same time",
        };
        self.denied(name, client, why)
    }

    /// Answers a line that is not a valid request.
    pub(super) fn unknown_request(&self, client: &Client) -> Response {
        self.denied("", client, "unknown request")
    }

    /// Counts a refusal, and logs it unless there were many recently.
    fn denied(&self, name: &str, client: &Client, why: &str) -> Response {
        one(&self.shared.stats.denied);
        if !self.denial_log.take(client.from.ip(), Instant::now()) {
            return Response::Refused(why.into());
        }
        let mut names = client.certificate().map(tls::dns_names).unwrap_or_default();
        // A short request must not cause a long line
        let more = names.len().saturating_sub(MAX_LOGGED_NAMES);
        names.truncate(MAX_LOGGED_NAMES);
        names.extend((more > 0).then(|| format!("and {more} more")));
        let about = [
            ("name", Some(name).filter(|name| !name.is_empty()).into()),
            ("from", client.from.to_string().into()),
            ("certificate", names.into()),
            ("why", why.into()),
        ];
        self.shared.log.say("denied", &about);
        Response::Refused(why.into())
    }
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
