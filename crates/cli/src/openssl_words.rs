//! Converts the arguments of `openssl enc` for clap: OpenSSL's long options have a single dash.

use std::ffi::OsString;

/// Options whose value is the next argument, whatever it starts with.
const VALUED: [&str; 12] = ["K", "iv", "in", "out", "pass", "kfile", "keyfile", "k", "iter", "md", "S", "bufsize"];
/// Options whose value is a secret, and others with the same prefix: without the space after it, the secret is in the
/// same argument.
const SECRET: [&str; 3] = ["K", "k", "pass"];
const NO_SECRET: [&str; 4] = ["kfile", "keyfile", "key-file", "pass"];
/// Prefixes of cipher names, including ciphers that are not supported, so that the error message lists those that are.
const CIPHERS: [&str; 14] = [
    "aes", "aria", "bf", "blowfish", "camellia", "cast", "chacha", "des", "id-aes", "idea", "rc2", "rc4", "seed", "sm4",
];

/// Rewrites the arguments after `enc`: `-pbkdf2` to `--pbkdf2`, `-aes-256-cbc` to `--cipher=aes-256-cbc`.
pub(crate) fn rewrite(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|verb| verb != "enc") {
        return words;
    }
    let mut value_next = false;
    let one = |word: OsString| {
        let is_value = std::mem::take(&mut value_next);
        let Some(dashed) = word.to_str().filter(|_| !is_value).and_then(|text| text.strip_prefix('-')) else {
            return word;
        };
        let (name, long) = dashed.strip_prefix('-').map_or((dashed, false), |name| (name, true));
        value_next = VALUED.contains(&name);
        let option = name.split('=').next().unwrap_or_default();
        let secret = SECRET.iter().find(|secret| name.starts_with(*secret) && !NO_SECRET.contains(&option));
        match (name.chars().count(), secret) {
            (0 | 1, _) => word,
            // clap's error message would repeat an argument that it does not know.
            (_, Some(secret)) => format!("--{secret}...").into(),
            _ if long => word,
            _ if CIPHERS.iter().any(|cipher| name.to_ascii_lowercase().starts_with(cipher)) => {
                format!("--cipher={name}").into()
            }
            _ => format!("--{name}").into(),
        }
    };
    words.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rewritten(line: &str) -> String {
        let words = rewrite(line.split(' ').map(OsString::from).collect());
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn single_dashes_become_what_clap_reads() {
        let line = "sealwright enc -d -aes-256-cbc -K 00 -iv 11 -in a -out - -nopad -AES-128-CTR -help";
        let read =
            "sealwright enc -d --cipher=aes-256-cbc -K 00 --iv 11 --in a --out - --nopad --cipher=AES-128-CTR --help";
        assert_eq!(rewritten(line), read);
        let line = "sealwright enc -camellia-256-cbc -bf -rc4-40 -SM4-CTR -base64 -salt -bufsize 1";
        let read =
            "sealwright enc --cipher=camellia-256-cbc --cipher=bf --cipher=rc4-40 --cipher=SM4-CTR --base64 --salt";
        assert_eq!(rewritten(line), format!("{read} --bufsize 1"));
    }

    #[test]
    fn a_secret_in_one_word_with_its_option_is_cut_off() {
        let line = "sealwright enc -Kabc -K=abc --Kabc -kabc -k=abc -keyfil -passabc -pass:abc -k kabc -K Kabc";
        let read = "sealwright enc --K... --K... --K... --k... --k... --k... --pass... --pass... -k kabc -K Kabc";
        assert_eq!(rewritten(line), read);
        let line = "sealwright enc -kfile a --kfile=a -keyfile a --key-file a -pass a --pass=a -pbkdf2 -p -P";
        assert_eq!(rewritten(line), line.replace(" -k", " --k").replace(" -pass", " --pass").replace(" -pb", " --pb"));
    }

    #[test]
    fn values_and_other_verbs_are_left_alone() {
        assert_eq!(rewritten("sealwright enc -in -pbkdf2 -S -iv"), "sealwright enc --in -pbkdf2 -S -iv");
        assert_eq!(rewritten("sealwright enc --in -kfoo -out --kfoo"), "sealwright enc --in -kfoo --out --kfoo");
        assert_eq!(rewritten("sealwright seal -rfC out"), "sealwright seal -rfC out");
    }
}
