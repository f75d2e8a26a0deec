//! Opens sessions and looks up other clients, over the control plane.

use std::time::Duration;

use crate::{
    address::Address,
    client::{
        control_client::ControlClient,
        identity::{ClientError, Identity, Session},
    },
};

impl Identity {
    /// Opens the session of this name, with fresh keys, and looks up the addresses of others.
    ///
    /// # Errors
    /// When the relay cannot be reached or refuses.
    pub fn open(&self, others: &[&str]) -> Result<Session, ClientError> {
        self.open_within(others, Duration::MAX)
    }

    /// Like [`Identity::open`], within this time.
    pub(super) fn open_within(&self, others: &[&str], within: Duration) -> Result<Session, ClientError> {
        ControlClient::ask(self, 1 + others.len(), within, |control| {
            let mut session = control.open(&self.name)?;
            for other in others {
                session.found.push(control.find(other)?);
            }
            Ok(session)
        })
    }

    /// Opens the session of this name, and also returns its grant: the keys that an attacker has who is a client.
    ///
    /// # Errors
    /// When the relay cannot be reached or refuses.
    #[cfg(feature = "research")]
    pub fn granted(&self) -> Result<(Session, sealwright_session::Grant), ClientError> {
        ControlClient::ask(self, 1, Duration::MAX, |control| control.granted(&self.name))
    }

    /// Looks up the addresses of others; none for a client that has no session now.
    ///
    /// # Errors
    /// When the relay cannot be reached or does not know one of them.
    pub fn find(&self, others: &[&str]) -> Result<Vec<Option<Address>>, ClientError> {
        self.find_within(others, Duration::MAX)
    }

    /// Like [`Identity::find`], within this time.
    pub(super) fn find_within(&self, others: &[&str], within: Duration) -> Result<Vec<Option<Address>>, ClientError> {
        ControlClient::ask(self, others.len(), within, |control| {
            others.iter().map(|other| control.find(other)).collect()
        })
    }

    /// Opens sessions of all these names over one connection. The certificate must name them all.
    ///
    /// # Errors
    /// When the relay cannot be reached or refuses one of them.
    pub fn open_many(&self, names: &[String]) -> Result<Vec<Session>, ClientError> {
        ControlClient::ask(self, names.len(), Duration::MAX, |control| {
            names.iter().map(|name| control.open(name)).collect()
        })
    }
}
