//! One-line texts for errors of other libraries.

use std::io;

use serde::de::DeserializeOwned;
use thiserror::Error;

/// What an operating system error says, without the number that Rust adds to it.
pub fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.find(" (os error").map_or(text.clone(), |end| text[..end].to_owned())
}

/// Why a text is not the TOML that it should be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TomlError {
    /// Something is wrong in one line.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// Something is wrong with the whole.
    #[error("{0}")]
    Whole(String),
}

impl TomlError {
    /// The unknown key, if that is the error.
    pub(crate) fn unknown_field(&self) -> Option<&str> {
        let TomlError::Line { message, .. } = self else { return None };
        Some(message.strip_prefix("unknown field `")?.split_once('`')?.0)
    }
}

/// Parses TOML.
pub(crate) fn toml<T: DeserializeOwned>(text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let message = plain(&without_value(&error.message().split_whitespace().collect::<Vec<_>>().join(" ")));
        match error.span() {
            Some(span) => {
                let before = &text[..span.start.min(text.len())];
                let line = before.matches('\n').count() + 1;
                // Only of a text that is TOML is it known what is a key and what a value, which may be secret.
                let key = toml::from_str::<toml::Table>(text).ok().and_then(|_| key_before(before));
                let message = key.map_or(message.clone(), |key| format!("{key}: {message}"));
                TomlError::Line { line, message }
            }
            None => TomlError::Whole(message),
        }
    })
}

/// The key of the value that begins after `before`, if it is on the same line.
fn key_before(before: &str) -> Option<&str> {
    let (key, rest) = before.rsplit('\n').next()?.split_once('=')?;
    let is_bare = |key: &str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    (rest.trim().is_empty() && is_bare(key.trim())).then(|| key.trim())
}

/// Says what a message of serde means to who writes a configuration, who does not know Rust's types.
fn plain(message: &str) -> String {
    if message == "invalid socket address syntax" {
        return "an IP address and a port are needed, such as 192.0.2.1:7600, or 0.0.0.0:7600 or [::]:7600 for all \
                addresses of this machine"
            .to_owned();
    }
    let Some((what, wanted)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let wanted = match wanted {
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        wanted if wanted.starts_with("struct ") => "a table",
        wanted => wanted,
    };
    format!("{what}, expected {wanted}")
}

/// Removes the offending value from serde's message: it may be a key or contain a password.
fn without_value(message: &str) -> String {
    for (start, end) in [("invalid type: string \"", "\", expected "), ("invalid value: string \"", "\", expected ")] {
        if let Some((_, expected)) = message.strip_prefix(start).and_then(|rest| rest.rsplit_once(end)) {
            return format!("invalid type: string, expected {expected}");
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use std::{error::Error, iter::successors};

    use rustls::server::VerifierBuilderError;
    use sealwright_session::SessionError;

    use super::*;
    use crate::{
        client::ClientError,
        control::tls::{FileError, TlsError},
        data::{AdmitError, StoppedError},
        serve::{AdminError, ConfigError, InitError, SecretError, ServeError, ValueError},
    };

    /// Programs print an error and then its sources: what one says, the next must not say again.
    #[test]
    fn no_error_says_what_its_source_says() {
        let os = || io::Error::from_raw_os_error(2);
        let toml = || TomlError::Line { line: 1, message: "unknown".into() };
        let no_key = || TlsError::File { path: "a".into(), why: FileError::Io(os()) };
        let secret = || ValueError::Secret { path: "a".into(), why: SecretError::File(FileError::Io(os())) };
        let errors: Vec<Box<dyn Error>> = vec![
            Box::new(toml()),
            Box::new(ClientError::Read { path: "a".into(), error: os() }),
            Box::new(ClientError::Config { path: "a".into(), why: toml() }),
            Box::new(ClientError::FileName { path: "a".into(), why: ValueError::Toml(toml()) }),
            Box::new(ClientError::Tls(no_key())),
            Box::new(ClientError::Relay { relay: "a".into(), error: os() }),
            Box::new(ClientError::Input(os())),
            Box::new(ClientError::Output(os())),
            Box::new(ClientError::Io(os())),
            Box::new(no_key()),
            Box::new(TlsError::Tls(rustls::Error::DecryptError)),
            Box::new(FileError::Io(os())),
            Box::new(FileError::Authority(rustls::Error::DecryptError)),
            Box::new(FileError::Verifier(VerifierBuilderError::NoRootAnchors)),
            Box::new(AdmitError::Stopped(StoppedError)),
            Box::new(AdmitError::Session(SessionError::NoMemory)),
            Box::new(AdminError::Socket { path: "a".into(), error: os() }),
            Box::new(ConfigError::Io { path: "a".into(), error: os() }),
            Box::new(ConfigError::Wrong { path: "a".into(), why: secret() }),
            Box::new(ValueError::Toml(toml())),
            Box::new(secret()),
            Box::new(SecretError::File(FileError::Mode)),
            Box::new(InitError::AuthorityKey(os())),
            Box::new(InitError::Write { file: "a".into(), error: os() }),
            Box::new(InitError::Io(os())),
            Box::new(ServeError::Config(ConfigError::Io { path: "a".into(), error: os() })),
            Box::new(ServeError::Tls(no_key())),
            Box::new(ServeError::Session(SessionError::NoMemory)),
            Box::new(ServeError::Listen { address: ([0; 4], 1).into(), error: os() }),
            Box::new(ServeError::Admin { path: "a".into(), error: os() }),
            Box::new(ServeError::Io(os())),
            #[cfg(feature = "nats")]
            Box::new(ServeError::Mesh(crate::MeshError::Io(os()))),
            #[cfg(feature = "nats")]
            Box::new(crate::MeshError::Io(os())),
            #[cfg(feature = "nats")]
            Box::new(crate::MeshError::Session(SessionError::NoMemory)),
            #[cfg(feature = "nats")]
            Box::new(ValueError::Nats(crate::ServersError::Form(1))),
        ];
        for error in &errors {
            let text = error.to_string();
            for source in successors(error.source(), |&error| error.source()) {
                // What the system says stands in errors without its number.
                let says = source.to_string().replace(" (os error 2)", "");
                assert!(!text.contains(&says), "{error:?}: {text:?} contains {says:?}");
            }
        }
    }

    #[test]
    fn errors_are_one_line() {
        assert_eq!(os_error_text(&io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(os_error_text(&io::Error::other("by itself")), "by itself");
        #[derive(serde::Deserialize, Debug)]
        #[serde(deny_unknown_fields)]
        struct One {
            #[allow(dead_code)]
            a: u32,
        }
        let why = toml::<One>("a = 1\nb = 2\n").expect_err("b is unknown").to_string();
        let why_not =
            toml::<One>("a = \"nats://user:secret\\\", expected b@host\"\n").expect_err("a is a number").to_string();
        assert_eq!(why_not, "line 1: a: invalid type: string, expected a whole number from 0 to 4294967295");
        let long = toml::<One>("\n a = 4294967296\n").expect_err("more than 32 bits").to_string();
        assert!(long.starts_with("line 2: a: invalid value: integer `4294967296`, expected a whole"), "{long}");
        // What is no TOML may be a key.
        let key = toml::<One>("c2VjcmV0 = = 1").expect_err("no TOML").to_string();
        assert!(!key.contains("c2VjcmV0"), "{key}");
        assert!(why.starts_with("line 2: unknown field `b`") && !why.contains('\n'), "{why}");
    }
}
