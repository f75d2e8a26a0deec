//! `sealwright enc`: the format and the options of `openssl enc`.

use std::{
    io::{IsTerminal, Read},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use clap::Args;
use sealwright_file::{
    Error, Input, Output, OutputOptions, Work,
    enc::{Armor, Derived, Direction, Enc, EncCipher, EncMode, EncSecret, Kdf, OnDerived, Salt, Transferred},
    key::{KeyForm, is_key},
};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, print, say, shown};
use zeroize::Zeroizing;

use crate::{
    error::file_error,
    keys::{
        descriptor,
        line::{OpensslOption, openssl_line},
        prompt::{self, Purpose},
        secret,
    },
    names::{is_stdin, is_stdout, leads_to_stdin},
    progress::Board,
    protected_inputs::{refuse_inputs, refuse_keys_as_names},
    stream,
};

const EXAMPLES: &str = "\
Options of more than one letter may also be written as openssl has them, with one dash: -in, -out, -iv.

Ciphers: -aes-{128,192,256}-{cbc,ctr,cfb,ofb} and -chacha20 read and write the same format as `openssl enc`.
-des-ede3-{cbc,cfb,ofb,ecb} (-des3) and -aes-*-ecb are for decryption only. None of them detects changes. CBC
and ECB detect a wrong key only sometimes, the others never.

-aes-{128,192,256}-gcm is an extension, which `openssl enc` refuses: the ciphertext, then its 16-byte tag,
under -K and a 12-byte -iv. Unlike `seal`, it has no passphrase, no key derivation and no commitment to the
key. You choose the nonce, and must never use it twice under one key. It takes at most 1 GiB. There is one tag
for all of it, so -d holds the text in memory until the tag is verified. Prefer `sealwright seal`.

Passphrases: -pass file:PATH, fd:N or stdin, or a prompt on the terminal. -pass pass:... and -k are refused,
because other users can see them in the process list. -pass env:... is refused, because child processes
inherit it. The line is read as openssl reads it: a carriage return at its end is part of the passphrase, except
with -kfile. Lines that openssl would silently truncate are refused: more than 1023 bytes, or 127 with -kfile.
-K is visible in the process list as well; -keyfile FILE reads a key file instead. Keys of a wrong length, which
openssl silently pads with zeros or truncates, are refused. Outputs are not replaced without -force.

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
    /// The key in hexadecimal, at full length
    #[arg(short = 'K', value_name = "HEX", conflicts_with_all = ["pass", "kfile", "salt_hex"])]
    key: Option<String>,
    /// Read the key from FILE, made by `sealwright key new`
    #[arg(long = "keyfile", alias = "key-file", value_name = "FILE", conflicts_with_all = ["key", "pass", "kfile", "salt_hex"])]
    key_file: Option<PathBuf>,
    /// The IV in hexadecimal, at full length
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
    /// With -a: base64 on a single line; ignored without -a
    #[arg(short = 'A')]
    one_line: bool,
    /// Print salt, key and IV to standard output; requires -out for the result
    #[arg(short = 'p')]
    print: bool,
    /// Print salt, key and IV, and do nothing else
    #[arg(short = 'P', conflicts_with = "print")]
    print_only: bool,
    /// Report how many bytes were read and written
    #[arg(short = 'v')]
    verbose: bool,
    /// Buffer size; accepted but ignored
    #[arg(long, value_name = "SIZE", value_parser = buffer_size)]
    bufsize: Option<u64>,
    /// Use CBC or ECB without padding; the data must be whole blocks
    #[arg(long)]
    nopad: bool,
    /// Replace an existing output
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// Encrypts or decrypts one input.
pub(crate) fn run(args: &EncArgs) -> Result<Exit, CommandError> {
    let direction = if args.decrypt { Direction::Decrypt } else { Direction::Encrypt };
    let cipher: EncCipher = args.cipher.parse().map_err(wrong)?;
    if secrets(args).iter().any(|path| is_key(path)) {
        return Err(file_error(Error::KeyAsName));
    }
    refuse_keys_as_names(&args.input)?;
    let stdin = args.input.as_ref().is_none_or(|path| is_stdin(path));
    // With -P, encrypting reads no input.
    let reads = !(args.print_only && direction == Direction::Encrypt);
    if stdin && reads && secrets(args).iter().any(|path| leads_to_stdin(path)) {
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
            Output::file(path, OutputOptions::default().force(args.force)).map_err(in_words_of_openssl)?
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
    let work = Work::default().progress(Arc::new(board.watch(shown(name), input.len())));
    // What cannot be printed must not be lost: no output appears then.
    let unprinted = Arc::new(OnceLock::new());
    let (failed, interrupt) = (unprinted.clone(), work.interrupt.clone());
    let print_derived = move |derived: &Derived| {
        if let Err(error) = print(&keys_text(derived)) {
            failed.get_or_init(|| error);
            interrupt.raise();
        }
    };
    let on_derived = args.print.then(|| OnDerived::new(print_derived));
    let enc = Enc::new(cipher, secret).armor(armor).padding(!args.nopad).work(work).on_derived(on_derived);
    let done = enc.run(direction, input, output).map_err(|error| in_words_of_openssl(error).about_unless_named(name));
    drop(enc);
    drop(board);
    if let Some(error) = unprinted.get() {
        return Err(CommandError::clone(error));
    }
    let Transferred { read, written, .. } = done?;
    if args.verbose {
        say(format_args!("bytes read   : {read:8}\nbytes written: {written:8}"));
    }
    Ok(Exit::Done)
}

/// All files that are read: the text, and the source of the passphrase or the key.
fn inputs(args: &EncArgs) -> Vec<PathBuf> {
    let standard = |path: &Path| if path.as_os_str() == "-" { "/dev/stdin".into() } else { path.to_owned() };
    let text = args.input.as_deref().unwrap_or(Path::new("-"));
    [standard(text)].into_iter().chain(secrets(args)).collect()
}

/// The source of the passphrase or the key.
fn secrets(args: &EncArgs) -> Vec<PathBuf> {
    let pass = args.pass.as_deref().and_then(|source| match source.split_once(':') {
        Some(("file", path)) => Some(PathBuf::from(path)),
        Some(("fd", number)) => Some(Path::new("/dev/fd").join(number)),
        _ => (source == "stdin").then(|| "/dev/stdin".into()),
    });
    pass.into_iter().chain(args.kfile.clone()).chain(args.key_file.clone()).collect()
}

/// `-P`: prints the salt, key and IV that would be used. Of the input, only a salt is read.
fn print_keys(args: &EncArgs, cipher: EncCipher, direction: Direction) -> Result<Exit, CommandError> {
    let secret = secret(args, cipher, direction)?;
    let armor = if args.base64 { Armor::Lines } else { Armor::None };
    let enc = Enc::new(cipher, secret).armor(armor);
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

/// Salt, key and IV in the format of `openssl enc -p`.
fn keys_text(derived: &Derived) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let mut text = derived.salt.map_or(String::new(), |salt| format!("salt={}\n", hex(&salt)));
    text += &format!("key={}\n", hex(&derived.key));
    if !derived.iv.is_empty() {
        text += &format!("iv ={}\n", hex(&derived.iv));
    }
    text
}

/// The hint if a key file is missing.
fn new_key(direction: Direction) -> Option<&'static str> {
    (direction == Direction::Encrypt).then_some(secret::NEW_KEY)
}

/// The error of a file, with a hint that names the options of this verb.
fn in_words_of_openssl(error: Error) -> CommandError {
    match error {
        Error::Exists(path) => {
            CommandError::failed("exists already").about(&path).hint("-force replaces it, -out names another output")
        }
        Error::BlockDevice(path) => CommandError::failed("is a block device, whose content would be lost")
            .about(&path)
            .hint("-force writes to it all the same"),
        Error::SameFile(path) => {
            CommandError::usage("is both input and output").about(&path).hint("name another output with -out")
        }
        other => file_error(other),
    }
}

/// Parses a number, with k for KiB as in OpenSSL. It has no effect.
fn buffer_size(text: &str) -> Result<u64, String> {
    let (digits, unit) = text.strip_suffix(['k', 'K']).map_or((text, 1), |digits| (digits, 1024));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| format!("`{text}` is not a number of bytes, such as 64k"))
}

/// The key and IV, or the passphrase and its key derivation.
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
        let key = Zeroizing::new(
            secret::key_file(path, new_key(direction))?.to_form(KeyForm::Raw).map_err(file_error)?.to_vec(),
        );
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
            // Accepted, as by openssl, because existing files may need it, but with a warning.
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
        return prompt::passphrase(purpose, "in scripts use -pass file:FILE, -pass fd:N or -kfile FILE");
    };
    match source.split_once(':').unwrap_or((source, "")) {
        ("file", path) => from_file(Path::new(path), OpensslOption::Pass),
        // Not with `Stdin`, which would read past the line into its buffer.
        ("stdin", "") => openssl_line(&mut descriptor::duplicate(0)?, Path::new("standard input"), OpensslOption::Pass),
        ("fd", number) => {
            let number = number.parse().map_err(|_| refused("-pass fd: takes the number of a descriptor"))?;
            openssl_line(&mut descriptor::duplicate(number)?, &descriptor::name(number), OpensslOption::Pass)
        }
        ("pass", _) => Err(refused("-pass pass: shows the passphrase in the list of processes")),
        ("env", _) => Err(refused("-pass env: hands the passphrase to every child process")),
        // The argument may be a passphrase, so it is not repeated.
        _ => Err(refused("-pass takes file:PATH, fd:N or stdin")),
    }
}

fn refused(why: &str) -> CommandError {
    CommandError::usage(why).hint("use -pass file:PATH, fd:N or stdin, or enter it at the prompt")
}

fn wrong(error: sealwright_file::enc::EncError) -> CommandError {
    file_error(error.into())
}
