//! A request that the relay refused, with the relay's message.

use std::{fmt, ops::Deref};

use crate::control::protocol::{Request, TOO_OFTEN};

/// A request that the relay refused. It dereferences to the relay's message alone; `Display` also names the request and
/// the client that it was about.
#[derive(Clone, Debug)]
pub struct Refusal {
    request: Request,
    why: String,
}

impl Refusal {
    pub(super) fn new(request: Request, why: String) -> Refusal {
        Refusal { request, why }
    }

    /// A suggestion to the user.
    pub(super) fn hint(&self) -> &'static str {
        let says = |words| self.why.contains(words);
        match &self.request {
            Request::Open(_) if says("does not know that name") => {
                "`name` in the client's file says who this is; if it is right, the relay's operator must allow it"
            }
            Request::Find(_) if says("does not know that name") => {
                "is the name of the other client right? If it is, the relay's operator must allow it"
            }
            Request::Open(_) if says("was revoked") => {
                "the relay's operator revoked this client: ask for another name and its files"
            }
            Request::Find(_) if says("was revoked") => {
                "the relay's operator revoked the other client: ask for its new name"
            }
            _ if says("does not name this client") => {
                "`name` in the client's file must be one that its certificate names"
            }
            _ if says("names no client") => "the relay's operator removed or revoked this client",
            _ if says("not valid any more") => {
                "it expired, was revoked, or is from another authority: ask the relay's operator for a new one"
            }
            _ if says("no rule") => "the relay's operator can allow it: `[[rules]]` in the configuration of the relay",
            _ if says("sessions of this relay") => "the relay's operator can raise `sessions` in its configuration",
            _ if says("sessions that it may have") => {
                "the relay's operator can raise `limits.sessions_of_one_certificate` in its configuration"
            }
            _ if says(TOO_OFTEN) || says("at the same time") => {
                "if another client runs under this name, the two take the session from each other: stop one of them"
            }
            _ => "the relay's operator finds the reason in the log, as the event `denied`",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.request {
            Request::Open(name) => write!(f, "open the session of {name}: {}", self.why),
            Request::Find(name) => write!(f, "look up {name}: {}", self.why),
        }
    }
}

impl Deref for Refusal {
    type Target = str;

    fn deref(&self) -> &str {
        &self.why
    }
}

impl PartialEq<str> for Refusal {
    fn eq(&self, words: &str) -> bool {
        self.why == words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The protocol has no error codes, so hints depend on the texts of the relay's messages.
    #[test]
    fn every_reason_of_a_relay_has_its_own_hint() {
        let relay = include_str!("../control/requests.rs");
        let hint = |request, why: &str| Refusal::new(request, why.to_owned()).hint();
        let hints = |why| [Request::Open("bob".into()), Request::Find("bob".into())].map(|asked| hint(asked, why));
        let rest = hints("the session cannot be opened")[0];
        for why in ["this relay does not know that name", "this name was revoked"] {
            let [open, find] = hints(why);
            assert!(relay.contains(why) && open != find && open != rest && find != rest, "{why}");
        }
        for why in [
            "your certificate does not name this client",
            "your certificate names no client of this relay",
            "your certificate is not valid any more",
            "no rule of this relay lets you speak to this client",
            "all sessions of this relay are taken",
            "this certificate has all the sessions that it may have",
            "another client opened this session at the same time",
        ] {
            assert!(relay.contains(why) && !hints(why).contains(&rest), "{why}");
        }
        assert!(!hints(TOO_OFTEN).contains(&rest));
        let shown = Refusal::new(Request::Find("bob".into()), "no".into());
        assert_eq!((shown.to_string().as_str(), &*shown), ("look up bob: no", "no"));
    }
}
