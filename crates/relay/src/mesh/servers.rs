//! The addresses of the NATS servers, and the login.

use async_nats::ConnectOptions;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::host_port::host_port;

/// NATS servers as configured in `[mesh]`: `nats://user:password@host:4222` or `token@host`, several separated by
/// commas.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Servers {
    /// Without the login.
    addresses: Vec<String>,
    login: Option<Login>,
}

#[derive(Clone, PartialEq, Eq)]
enum Login {
    Token(Zeroizing<String>),
    User(Zeroizing<String>, Zeroizing<String>),
}

/// What is wrong with such a list. Its text is not repeated: it may be part of a password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServersError {
    /// One of them, counted from 1, has another form.
    #[error("address {0} does not have the form nats://host:port or tls://user:password@host:port")]
    Form(usize),
    /// One user, or token, is for all servers.
    #[error(
        "address {0} has another user, password or token than the addresses before it; all servers must accept the same"
    )]
    Login(usize),
}

impl ServersError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ServersError::Form(_) => {
                Some("in a user or password write % as %25, a comma as %2C, @ as %40 and / as %2F")
            }
            ServersError::Login(_) => None,
        }
    }
}

impl Servers {
    /// # Errors
    /// When an address has another form, or another login than the others.
    pub(crate) fn parse(list: &str) -> Result<Servers, ServersError> {
        let mut servers = Servers { addresses: Vec::new(), login: None };
        for (number, server) in (1..).zip(list.split(',')) {
            let (address, login) = one(server.trim()).ok_or(ServersError::Form(number))?;
            servers.addresses.push(address);
            if login.is_some() && number > 1 && login != servers.login {
                return Err(ServersError::Login(number));
            }
            servers.login = servers.login.or(login);
        }
        Ok(servers)
    }

    /// The addresses, without the login.
    pub(super) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Adds the login to these options: the NATS client takes none from an address.
    pub(super) fn let_in(&self, options: ConnectOptions) -> ConnectOptions {
        match &self.login {
            None => options,
            Some(Login::Token(token)) => options.token(token.to_string()),
            Some(Login::User(user, password)) => options.user_and_password(user.to_string(), password.to_string()),
        }
    }
}

impl std::fmt::Display for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.addresses.join(","))
    }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Servers").field(&self.addresses).finish()
    }
}

/// Splits an address into the bare address and its login.
fn one(server: &str) -> Option<(String, Option<Login>)> {
    let (scheme, rest) = server.split_once("://").unwrap_or(("nats", server));
    let (login, host) = match rest.rsplit_once('@') {
        Some((login, host)) => (Some(login), host),
        None => (None, rest),
    };
    if !["nats", "tls"].contains(&scheme) {
        return None;
    }
    host_port(host)?;
    let login = match login.map(|login| login.split_once(':').ok_or(login)) {
        None => None,
        Some(Err(token)) => Some(Login::Token(decoded(token)?)),
        Some(Ok((user, password))) => Some(Login::User(decoded(user)?, decoded(password)?)),
    };
    Some((format!("{scheme}://{host}"), login))
}

/// Decodes percent-encoding (RFC 3986, section 2.1); `None` if the text is not valid in an address.
fn decoded(text: &str) -> Option<Zeroizing<String>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                let digits =
                    str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|d| d.is_ascii_hexdigit()))?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = after;
            }
            b'@' | b'/' | b'?' | b'#' | b' ' => return None,
            byte => bytes.push(*byte),
        }
    }
    let text = str::from_utf8(&bytes).ok().filter(|text| !text.is_empty())?;
    Some(Zeroizing::new(text.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn user(user: &str, password: &str) -> Option<Login> {
        Some(Login::User(user.to_owned().into(), password.to_owned().into()))
    }

    #[test]
    fn what_lets_in_is_no_part_of_an_address() {
        let servers = Servers::parse("nats://user:p%2Ca:ss%40%25@a.example:4222, tls://b.example,c.example:1").unwrap();
        assert_eq!(servers.to_string(), "nats://a.example:4222,tls://b.example,nats://c.example:1");
        assert!(servers.login == user("user", "p,a:ss@%"));
        let servers = Servers::parse("b.example,tls://t%C3%A9@[::1]:4223").unwrap_err();
        assert!(matches!(servers, ServersError::Login(2)), "the first takes no token");
        assert!(Servers::parse("secret@[::1]").unwrap().login == Some(Login::Token("secret".to_owned().into())));
        assert!(matches!(Servers::parse("nats://a:b@h,nats://a:c@h"), Err(ServersError::Login(2))));
    }

    #[test]
    fn what_is_no_list_is_not_repeated() {
        for (list, number) in [
            ("nats://user:secret,word@host", 1),
            ("user:s://ecret@host", 1),
            ("nats://a, nats://user:secret@", 2),
            ("nats://user:sec@ret@host", 1),
            ("nats://user:%4@host", 1),
            ("nats://user:secret%zz@host", 1),
            ("nats://user:%FF@host", 1),
            ("nats://secret:x", 1),
            ("ws://host", 1),
            ("nats://host:99999", 1),
            ("nats://host/secret", 1),
            ("nats://:4222", 1),
            ("nats://user:secret@:4222", 1),
            ("nats://[::1", 1),
            ("nats://secret@[::1:4222", 1),
            ("nats://::1", 1),
            ("nats://[secret]:4222", 1),
            ("nats://host:0", 1),
            ("nats://host:+1", 1),
            ("a,nats://host:", 2),
            ("@host", 1),
            ("", 1),
        ] {
            let error = Servers::parse(list).err().unwrap();
            assert!(matches!(error, ServersError::Form(n) if n == number), "{list}: {error}");
            assert!(!format!("{error} {error:?}").contains("sec"), "{list}: {error}");
        }
    }
}
