//! `sealwright enc`: the format and the options of `openssl enc`.

use std::{
    ffi::OsString,
    io::{IsTerminal, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use sealwright_file::{
    Error, Input, Output, Place, Work,
    enc::{Armor, Derived, Direction, Enc, EncCipher, EncMode, EncSecret, Kdf, Moved, Salt, Told},
    key::{KeyForm, is_key},
};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, print, say, shown};
use zeroize::Zeroizing;

use crate::{
    descriptor,
    error::file_error,
    in_use::refuse_inputs,
    line::{OpensslOption, openssl_line},
    plan::is_stdout,
    progress::Board,
    prompt::{self, Purpose},
    secret, stream,
};

const EXAMPLES: &str = "\
Ciphers: -aes-{128,192,256}-{cbc,ctr,cfb,ofb} and -chacha20 read and write the same format as `openssl enc`.
-des-ede3-{cbc,cfb,ofb,ecb} (-des3) and -aes-*-ecb only decrypt what exists. None of them detects changes. CBC
and ECB detect a wrong key only sometimes, the others never.

-aes-{128,192,256}-gcm is an extension, which `openssl enc` refuses: the ciphertext, then its 16-byte tag,
under -K and a 12-byte -iv. Unlike `seal`, it has no passphrase, no key derivation and no commitment to the
key. You choose the nonce, and must never use it twice under one key. The data is not divided into chunks, so
it must fit into memory. Prefer `sealwright seal`.

Passphrases: -pass file:PATH, fd:N or stdin, or a prompt on the terminal. -pass pass:... and -k are refused,
because other users can see them in the process list. -pass env:... is refused, because child processes
inherit it. The line counts as openssl counts it: a carriage return at its end is part of it, but for -kfile,
and lines of which openssl would take a part without a message are refused: more than 1023 bytes, or 127 for
-kfile. -K can be seen as well; -keyfile FILE reads a key file instead. Keys of a wrong length, which
openssl pads with zeros or cuts without a message, are refused. Outputs are not replaced without -force.

Example:
    sealwright enc -aes-256-cbc -pbkdf2 -a -pass file:secret -in letter.txt -out letter.b64
    openssl enc -d -aes-256-cbc -pbkdf2 -a -pass file:secret -in letter.b64";

/// Encrypt or decrypt like `openssl enc`, without authentication; prefer `seal`
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "sealwright enc [-e|-d] -aes-256-cbc (-K HEX -iv HEX | [-pass SOURCE] -pbkdf2) [OPTIONS]")]
pub(crate) struct EncArgs {
    /// Encrypt [default]
    #[arg(short, conflicts_with = "decrypt")]
    encrypt: bool,
    /// Decrypt
    #[arg(short)]
    decrypt: bool,
    /// The cipher; OpenSSL's form -aes-256-cbc works as well
    #[arg(long, value_name = "NAME")]
    cipher: String,
    /// Read from FILE instead of standard input
    #[arg(long = "in", value_name = "FILE", allow_hyphen_values = true)]
    input: Option<PathBuf>,
    /// Write to FILE instead of standard output
    #[arg(long = "out", value_name = "FILE", allow_hyphen_values = true)]
    output: Option<PathBuf>,
    /// The key, with all its hexadecimal digits
    #[arg(short = 'K', value_name = "HEX", conflicts_with_all = ["pass", "kfile", "salt_hex"])]
    key: Option<String>,
    /// Read the key from FILE, made by `sealwright key new`
    #[arg(long = "keyfile", alias = "key-file", value_name = "FILE", conflicts_with_all = ["key", "pass", "kfile", "salt_hex"])]
    key_file: Option<PathBuf>,
    /// The IV, with all its hexadecimal digits
    #[arg(long, value_name = "HEX")]
    iv: Option<String>,
    /// Read the passphrase from the first line of file:PATH, fd:N or stdin
    #[arg(long, value_name = "SOURCE", allow_hyphen_values = true)]
    pass: Option<String>,
    /// Read the passphrase from the first line of FILE
    #[arg(long, value_name = "FILE", conflicts_with = "pass", allow_hyphen_values = true)]
    kfile: Option<PathBuf>,
    /// Refused: a passphrase on the command line
    #[arg(short = 'k', value_name = "PASSPHRASE", hide = true, allow_hyphen_values = true)]
    typed: Option<String>,
    /// Derive the key with PBKDF2; without it, the passphrase is hashed once, as in old files
    #[arg(long)]
    pbkdf2: bool,
    /// Iterations of PBKDF2 [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iter: Option<u32>,
    /// The hash function of the key derivation
    #[arg(long, value_name = "NAME", default_value = "sha256")]
    md: String,
    /// Write a random salt at the start [default]
    #[arg(long, conflicts_with = "nosalt")]
    salt: bool,
    /// Use no salt
    #[arg(long)]
    nosalt: bool,
    /// Use this salt, 16 hexadecimal digits, and do not write it to the output
    #[arg(short = 'S', value_name = "HEX", conflicts_with_all = ["salt", "nosalt"])]
    salt_hex: Option<String>,
    /// The ciphertext is in base64
    #[arg(short = 'a', long)]
    base64: bool,
    /// With -a: base64 in one line; without it, of no effect
    #[arg(short = 'A')]
    one_line: bool,
    /// Print salt, key and IV to standard output; the output needs -out
    #[arg(short = 'p')]
    print: bool,
    /// Print salt, key and IV, and do nothing else
    #[arg(short = 'P', conflicts_with = "print")]
    print_only: bool,
    /// Tell how many bytes were read and written
    #[arg(short = 'v')]
    verbose: bool,
    /// Accepted, and of no effect: the size of buffers
    #[arg(long, value_name = "SIZE", value_parser = buffer_size)]
    bufsize: Option<u64>,
    /// CBC and ECB without padding: whole blocks only
    #[arg(long)]
    nopad: bool,
    /// Replace an existing output
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// Options that take the next word, whatever it starts with.
const VALUED: [&str; 12] = ["K", "iv", "in", "out", "pass", "kfile", "keyfile", "k", "iter", "md", "S", "bufsize"];
/// Options whose value is a secret, and the others that begin so: who forgets the space after them has a secret in one word.
const SECRET: [&str; 3] = ["K", "k", "pass"];
const NO_SECRET: [&str; 4] = ["kfile", "keyfile", "key-file", "pass"];
/// How the names of ciphers begin.
const CIPHERS: [&str; 3] = ["aes", "des", "chacha"];

/// Rewrites OpenSSL's single dashes after `enc`: `-pbkdf2` to `--pbkdf2`, `-aes-256-cbc` to `--cipher=aes-256-cbc`.
pub(crate) fn openssl_words(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|verb| verb != "enc") {
        return words;
    }
    let mut value_next = false;
    let rewrite = |word: OsString| {
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
            // clap repeats what it does not know.
            (_, Some(secret)) => format!("--{secret}...").into(),
            _ if long => word,
            _ if CIPHERS.iter().any(|cipher| name.to_ascii_lowercase().starts_with(cipher)) => {
                format!("--cipher={name}").into()
            }
            _ => format!("--{name}").into(),
        }
    };
    words.into_iter().map(rewrite).collect()
}

/// Encrypts or decrypts one input.
pub(crate) fn run(args: &EncArgs) -> Result<Exit, CommandError> {
    let direction = if args.decrypt { Direction::Decrypt } else { Direction::Encrypt };
    let cipher: EncCipher = args.cipher.parse().map_err(wrong)?;
    if secrets(args).iter().any(|path| is_key(path)) {
        return Err(file_error(Error::KeyAsName));
    }
    let stdin = args.input.as_ref().is_none_or(|path| path.as_os_str() == "-");
    if stdin && matches!(args.pass.as_deref(), Some("stdin" | "fd:0")) {
        return Err(
            CommandError::usage("standard input cannot be both the passphrase and the text").hint("use -in FILE")
        );
    }
    let text_out = args.base64 && direction == Direction::Encrypt;
    if args.output.is_none() && !args.print_only && !text_out && std::io::stdout().is_terminal() {
        stream::refuse_terminal("-out")?;
    }
    if args.print_only {
        return print_keys(args, cipher, direction);
    }
    let to_file = args.output.as_deref().filter(|path| !is_stdout(path));
    if args.print && to_file.is_none() {
        return Err(CommandError::usage("-p would mix the key with the output").hint("name the output with -out FILE"));
    }
    let output = match to_file {
        Some(path) => {
            refuse_inputs(path, inputs(args))?;
            Output::file(path, Place { force: args.force, ..Place::default() }).map_err(file_error)?
        }
        None => Output::stdout().map_err(file_error)?,
    };
    let input = match &args.input {
        Some(path) if !stdin => Input::open(path).map_err(file_error)?,
        _ => Input::stdin().map_err(file_error)?,
    };
    let secret = secret(args, cipher, direction)?;
    let armor = match (args.base64, args.one_line) {
        (false, _) => Armor::None,
        (true, false) => Armor::Lines,
        (true, true) => Armor::OneLine,
    };
    let name = args.input.as_deref().filter(|_| !stdin).unwrap_or(Path::new("standard input"));
    let board = Board::new(&args.progress, 1, input.len());
    let work = Work { progress: Arc::new(board.watch(shown(name), input.len())), ..Work::default() };
    let told = args.print.then(|| Told::new(|derived| drop(print(&keys_text(derived)))));
    let enc = Enc { armor, padding: !args.nopad, work, told, ..Enc::new(cipher, secret) };
    let done = enc.run(direction, input, output).map_err(|error| file_error(error).about_unless_named(name));
    drop(enc);
    drop(board);
    let Moved { read, written } = done?;
    if args.verbose {
        say(format_args!("bytes read   : {read:8}\nbytes written: {written:8}"));
    }
    Ok(Exit::Done)
}

/// What is read: the text, and the passphrase or the key.
fn inputs(args: &EncArgs) -> Vec<PathBuf> {
    let standard = |path: &Path| if path.as_os_str() == "-" { "/dev/stdin".into() } else { path.to_owned() };
    let text = args.input.as_deref().unwrap_or(Path::new("-"));
    [standard(text)].into_iter().chain(secrets(args)).collect()
}

/// What the passphrase or the key is read from.
fn secrets(args: &EncArgs) -> Vec<PathBuf> {
    let pass = args.pass.as_deref().and_then(|source| match source.split_once(':') {
        Some(("file", path)) => Some(PathBuf::from(path)),
        Some(("fd", number)) => Some(Path::new("/dev/fd").join(number)),
        _ => (source == "stdin").then(|| "/dev/stdin".into()),
    });
    pass.into_iter().chain(args.kfile.clone()).chain(args.key_file.clone()).collect()
}

/// `-P`: what would be used. Of the input, only a salt is read.
fn print_keys(args: &EncArgs, cipher: EncCipher, direction: Direction) -> Result<Exit, CommandError> {
    let secret = secret(args, cipher, direction)?;
    let armor = if args.base64 { Armor::Lines } else { Armor::None };
    let enc = Enc { armor, ..Enc::new(cipher, secret) };
    let mut from: Box<dyn Read> = match &args.input {
        _ if direction == Direction::Encrypt => Box::new(std::io::empty()),
        Some(path) if path.as_os_str() != "-" => {
            Box::new(std::fs::File::open(path).map_err(|error| CommandError::io(path, &error))?)
        }
        _ => Box::new(std::io::stdin()),
    };
    print(&keys_text(&enc.derive(direction, &mut from).map_err(file_error)?))?;
    Ok(Exit::Done)
}

/// As `openssl enc -p` prints them.
fn keys_text(derived: &Derived) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let mut text = derived.salt.map_or(String::new(), |salt| format!("salt={}\n", hex(&salt)));
    text += &format!("key={}\n", hex(&derived.key));
    if !derived.iv.is_empty() {
        text += &format!("iv ={}\n", hex(&derived.iv));
    }
    text
}

/// A number, with k for KiB as OpenSSL has it. It has no effect here.
fn buffer_size(text: &str) -> Result<u64, CommandError> {
    let (digits, unit) = text.strip_suffix(['k', 'K']).map_or((text, 1), |digits| (digits, 1024));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| CommandError::usage(format_args!("`{text}` is not a number of bytes, such as 64k")))
}

/// Key and IV, or a passphrase and how to stretch it.
fn secret(args: &EncArgs, cipher: EncCipher, direction: Direction) -> Result<EncSecret, CommandError> {
    let given_iv = match &args.iv {
        Some(_) if cipher.iv_len() == 0 => {
            say(format_args!("sealwright: warning: {cipher} takes no IV, so -iv has no effect"));
            None
        }
        other => other.as_deref(),
    };
    let iv = match given_iv {
        None if cipher.iv_len() == 0 => Some(""),
        other => other,
    };
    if iv.is_none() && (args.key.is_some() || args.key_file.is_some()) {
        return Err(CommandError::usage(format_args!("{cipher} needs -iv beside the key")));
    }
    if let (Some(key), Some(iv)) = (&args.key, iv) {
        return EncSecret::from_hex(cipher, key, iv).map_err(wrong);
    }
    if let (Some(path), Some(iv)) = (&args.key_file, iv) {
        let key = Zeroizing::new(secret::key_file(path)?.to_form(KeyForm::Raw).map_err(file_error)?.to_vec());
        return EncSecret::Key { key, iv: Vec::new() }.with_iv(cipher, iv).map_err(wrong);
    }
    if args.typed.is_some() {
        return Err(refused("-k shows the passphrase in the list of processes"));
    }
    if cipher.mode() == EncMode::Gcm {
        return Err(CommandError::usage("GCM takes -K and -iv").hint("`sealwright seal` takes passphrases"));
    }
    let digest = args.md.parse().map_err(wrong)?;
    let passphrase = passphrase(args, direction)?;
    let kdf = match args.iter {
        None if !args.pbkdf2 => {
            // As openssl does: the bytes may be needed, the user should know
            say("sealwright: warning: without -pbkdf2 the passphrase is hashed once and quickly guessed");
            Kdf::Legacy { digest }
        }
        iterations => Kdf::Pbkdf2 { iterations: iterations.unwrap_or(10_000), digest },
    };
    let salt = match &args.salt_hex {
        Some(hex) => Salt::from_hex(hex).map_err(wrong)?,
        None if args.nosalt => Salt::None,
        None => Salt::Header,
    };
    let secret = EncSecret::Passphrase { passphrase, kdf, salt, iv: None };
    match given_iv {
        Some(iv) => secret.with_iv(cipher, iv).map_err(wrong),
        None => Ok(secret),
    }
}

fn passphrase(args: &EncArgs, direction: Direction) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let from_file = |path: &Path, option| {
        let mut file = std::fs::File::open(path).map_err(|error| CommandError::io(path, &error))?;
        openssl_line(&mut file, path, option)
    };
    if let Some(path) = &args.kfile {
        return from_file(path, OpensslOption::Kfile);
    }
    let Some(source) = &args.pass else {
        let purpose = if direction == Direction::Encrypt { Purpose::Seal } else { Purpose::Open };
        return prompt::passphrase(purpose);
    };
    match source.split_once(':').unwrap_or((source, "")) {
        ("file", path) => from_file(Path::new(path), OpensslOption::Pass),
        // Not `Stdin`, which reads on behind the line and keeps what it read.
        ("stdin", "") => openssl_line(&mut descriptor::duplicate(0)?, Path::new("standard input"), OpensslOption::Pass),
        ("fd", number) => {
            let number = number.parse().map_err(|_| refused("-pass fd: takes the number of a descriptor"))?;
            openssl_line(&mut descriptor::duplicate(number)?, &descriptor::name(number), OpensslOption::Pass)
        }
        ("pass", _) => Err(refused("-pass pass: shows the passphrase in the list of processes")),
        ("env", _) => Err(refused("-pass env: hands the passphrase to every child process")),
        // The word may be a passphrase: it is not repeated
        _ => Err(refused("-pass takes file:PATH, fd:N or stdin")),
    }
}

fn refused(why: &str) -> CommandError {
    CommandError::usage(why).hint("use -pass file:PATH, fd:N or stdin, or let it be asked on the terminal")
}

fn wrong(error: sealwright_file::enc::EncError) -> CommandError {
    file_error(error.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rewritten(line: &str) -> String {
        let words = openssl_words(line.split(' ').map(OsString::from).collect());
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn single_dashes_become_what_clap_reads() {
        let line = "sealwright enc -d -aes-256-cbc -K 00 -iv 11 -in a -out - -nopad -AES-128-CTR -help";
        let read =
            "sealwright enc -d --cipher=aes-256-cbc -K 00 --iv 11 --in a --out - --nopad --cipher=AES-128-CTR --help";
        assert_eq!(rewritten(line), read);
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
