//! What is wrong with settings: at the bottom, because everything that has settings says it.

/// A setting that does not exist or does not describe a machine, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Names of types in the messages of serde, as a user of TOML would say them. Whole numbers there have a sign.
const TYPES: [(&str, &str); 10] = [
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number from 0"),
    ("usize", "a whole number from 0"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a map", "a table"),
    ("a sequence", "a list"),
];

/// Why TOML does not describe settings: what the parser says, without the names of Rust's types.
pub(crate) fn toml_message(error: &toml::de::Error) -> String {
    let message = error.message();
    let Some((what, wanted)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let wanted = match TYPES.iter().find(|(name, _)| *name == wanted) {
        Some((_, plain)) => plain,
        None if wanted.starts_with("struct ") => "a table",
        None => wanted,
    };
    format!("{what}, expected {wanted}")
}

#[cfg(test)]
mod tests {
    use crate::Config;

    /// The names of Rust's types say nothing to who writes settings.
    #[test]
    fn a_wrong_type_is_said_in_plain_words() {
        let set = |setting: &str| Config::default().set(setting).expect_err(setting).to_string();
        let number = "expected a whole number from 0";
        assert_eq!(set("bus.width=abc"), format!("bus.width=abc: invalid type: string \"abc\", {number}"));
        assert!(set("bus.width=-1").ends_with(number) && set("machine.line=1.5").ends_with(number));
        assert!(set("scheme.gcm.pads=x").ends_with(&format!("scheme.gcm: invalid type: string \"x\", {number}")));
        assert!(set("bus=1").ends_with("expected a table"), "{}", set("bus=1"));
    }
}
