//! `sealwright seal`: seals files and streams.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    path::{Path, PathBuf},
};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use sealwright::Suite;
use sealwright_file::{
    Ceiling, Content, Costs, Error, Key, Opening, Recipient, Sealing, Work, key::KeyForm, list::NAME, tree,
};
use sealwright_terminal::{CommandError, Exit, say, shown};

#[cfg(feature = "signatures")]
use crate::keys::signing;
use crate::{
    ad,
    args::{AdArgs, FileArgs, KeySourceArgs},
    error::file_error,
    keys::{
        ceiling,
        pairs::RecipientArgs,
        secret::{self, SealWith},
    },
    manifests::{self, existing::KeptArgs, write::Sealed},
    names::Direction,
    plan::{FileTask, Place, Plan},
    preflight::{self, Given},
    protected_inputs, run, stream,
};

const EXAMPLES: &str = "\
Each output is written to a temporary file. When it is complete, it gets its name and the permission bits
of its input. Nothing is replaced without --force. In a directory, everything that is neither a file nor a directory
(links, sockets, devices) is skipped, and reported unless --quiet is given.

With --each, each directory gets a manifest that lists its sealed files. Sealed files that are already there are
opened with the given keys, so that the manifest can list them; if no given key opens one of them, nothing is sealed
there. Files whose names end in .seal are skipped as already sealed, except with -C or -o, which seal every file.

Example:
    sealwright seal --key-file my.key letter.txt           # writes letter.txt.seal
    sealwright seal --key-file my.key photos               # writes photos.seal: the directory as one file
    sealwright seal --key-file my.key --each photos -C sealed  # writes sealed/photos/...
    tar -c photos | sealwright seal --key-file my.key -o photos.tar.seal
    sealwright seal -R friends.pub letter.txt -o to-friends.seal    # each of their secret keys opens it
    sealwright seal -R id_ed25519.pub letter.txt -o ssh.seal        # an SSH key: ed25519 or RSA
    sealwright seal --key-file my.key --pad letter.txt -o padded.seal
    sealwright seal -R friends.pub --sign my.sign letter.txt -o signed.seal
    sealwright seal --passphrase letter.txt";

/// Seal files, so that nobody without the key can read them or change them unnoticed
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SealArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    key: KeySourceArgs,
    #[command(flatten)]
    recipients: RecipientArgs,
    #[command(flatten)]
    ad: AdArgs,
    /// Sign the text with the signing key in FILE, made by `sealwright key new --signing`
    #[cfg(feature = "signatures")]
    #[arg(long, value_name = "FILE", help_heading = "Signature")]
    sign: Option<PathBuf>,
    #[command(flatten)]
    kept: KeptArgs,
    /// Cipher and mode
    #[arg(long, default_value = "aes-256-gcm", ignore_case = true, value_parser = suites())]
    suite: Suite,
    /// Write text: base64 in lines, larger by a third
    #[arg(short, long)]
    armor: bool,
    /// Pad the text to hide its exact length; from 1 KiB on, by at most 12 %
    #[arg(long)]
    pad: bool,
    /// Memory that is needed to try one passphrase
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = ceiling::cost, help_heading = "Key")]
    cost: Costs,
}

/// The suites that the file format has a number for.
pub(crate) fn suites() -> impl TypedValueParser<Value = Suite> {
    let names = Suite::ALL.iter().map(|suite| suite.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Suite>())
}

/// The files that must not be replaced or removed.
fn in_use(args: &SealArgs) -> Result<Vec<PathBuf>, CommandError> {
    #[cfg(feature = "signatures")]
    let sign = &args.sign;
    #[cfg(not(feature = "signatures"))]
    let sign = &None;
    protected_inputs::named(&args.key, &args.ad, args.recipients.files().iter().chain(sign).chain(args.kept.files()))
}

/// Seals all inputs.
pub(crate) fn run(args: &SealArgs) -> Result<Exit, CommandError> {
    protected_inputs::refuse_keys_as_names(&args.files.inputs)?;
    let mut plan = Plan::new(&args.files, Direction::Seal)?;
    let in_use = in_use(args)?;
    stream::refuse_conflicts(&plan, &args.files, &in_use)?;
    protected_inputs::refuse(&plan, &args.files, &in_use)?;
    let ad = ad::read(&args.ad)?;
    let costs = args.cost;
    if !args.files.progress.quiet {
        ceiling::warn_of(costs);
    }
    let mut listing = Sealed::new(&mut plan, &args.files);
    preflight::check(&mut plan, &args.files, Given::default(), Direction::Seal);
    if plan.tasks.is_empty() && !listing.is_due(&plan) {
        secret::named(&args.key, ("--recipient", args.recipients.any()))?;
        return Ok(run::failures(&plan, &args.files));
    }
    #[cfg(feature = "signatures")]
    let signer = args.sign.as_deref().map(signing::signing_key).transpose()?;
    let with = secret::seal_with(&args.key, &args.recipients)?;
    refuse_key_length(args, &with)?;
    protected_inputs::refuse_keys(&plan, &args.files, &with)?;
    if !args.files.progress.quiet {
        protected_inputs::warn(&plan, &args.files, &in_use);
    }
    #[cfg(feature = "signatures")]
    let signers = {
        let own = signer.iter().map(|key| key.verifying_key().clone());
        own.chain(args.kept.signers()?).collect::<Vec<_>>()
    };
    let identities = args.kept.keys()?;
    // Files sealed earlier may have had the same costs.
    let ceiling = Ceiling { memory_kib: costs.memory_kib.max(Ceiling::default().memory_kib), ..Ceiling::default() };
    let opening = |keys| {
        let opening = Opening::with_keys(keys).ad(&ad).ceiling(ceiling);
        #[cfg(feature = "signatures")]
        let opening = opening.signers(&signers);
        opening
    };
    let keys = own_keys(&with).into_iter().map(std::slice::from_ref).chain([&identities[..]]);
    let openings: Vec<_> = keys.filter(|keys| !keys.is_empty()).map(opening).collect();
    let threads = run::start(&args.files, &plan)?;
    listing.keep(&mut plan, &openings, &args.files);
    let sealing = match &with {
        SealWith::Key(key) => Sealing::new(key),
        SealWith::Recipients(recipients) => Sealing::for_recipients(recipients),
    };
    let sealing = sealing.armor(args.armor).pad(args.pad).suite(args.suite).costs(costs).ad(&ad);
    #[cfg(feature = "signatures")]
    let sealing = sealing.sign(signer.as_ref());
    let one = |task: &FileTask, work: Work| {
        let output = stream::output(task, &args.files, false)?;
        let sealing = sealing.clone().work(work);
        let (input, sealing) = match &task.input {
            Place::File(path) if task.tree => {
                let packed = tree::pack_without(path, &output).map_err(|error| explain(error, task))?;
                if !args.files.progress.quiet {
                    for skipped in &packed.skipped {
                        let is_file = fs::symlink_metadata(skipped).is_ok_and(|meta| meta.is_file());
                        let why = if is_file { "the output replaces it" } else { "neither a file nor a directory" };
                        say(format_args!("sealwright: {}: skipped, {why}", shown(skipped)));
                    }
                }
                (packed.input, sealing.content(Content::Tree))
            }
            _ => (stream::input(task)?, sealing),
        };
        let summary = sealing.seal(input, output).map_err(|error| explain(error, task))?;
        // The file was sealed, even if its input cannot be removed.
        listing.note(task, summary.commitment);
        stream::remove(task, &args.files, &summary)
    };
    let left_behind = if args.files.progress.quiet { BTreeSet::new() } else { left_behind(&plan) };
    let exit = run::all(plan, &args.files, threads, one);
    for manifest in left_behind {
        say(format_args!(
            "sealwright: warning: {}: does not list what was sealed now; `seal --each -f` on its directory rewrites it",
            shown(&manifest)
        ));
    }
    let keys = if let SealWith::Recipients(recipients) = &with { recipients.len() } else { 1 };
    Ok(listing.write(&sealing, keys, &args.files, exit))
}

/// Manifests above the outputs that are not updated now: with them, a directory is refused if it contains other files.
fn left_behind(plan: &Plan) -> BTreeSet<PathBuf> {
    let outputs =
        plan.tasks.iter().filter_map(|task| if let Place::File(path) = &task.output { Some(path) } else { None });
    // Many outputs may be in one directory.
    let directories: BTreeSet<&Path> = outputs.filter_map(|path| path.parent()).collect();
    let written: HashSet<PathBuf> =
        plan.roots.iter().filter_map(|root| Some(fs::canonicalize(&root.path).ok()?.join(NAME))).collect();
    let here = |path| if path == Path::new("") { Path::new(".") } else { path };
    let above = directories.into_iter().flat_map(|directory| manifests::above(here(directory)));
    above.filter(|(_, real)| !written.contains(real)).map(|(name, _)| name).collect()
}

/// The keys that open what is sealed with them.
fn own_keys<'a>(with: &'a SealWith) -> Vec<&'a Key> {
    let own = |recipient: &'a Recipient| if let Recipient::Key(key) = recipient { Some(key) } else { None };
    match with {
        SealWith::Key(key) => vec![key],
        SealWith::Recipients(recipients) => recipients.iter().filter_map(own).collect(),
    }
}

/// Refuses a raw key whose length is not that of the suite. That is not the fault of any text, so it is said once, of the
/// key.
fn refuse_key_length(args: &SealArgs, with: &SealWith) -> Result<(), CommandError> {
    let SealWith::Key(key) = with else { return Ok(()) };
    // A passphrase has no such form, and fits every suite.
    let Ok(raw) = key.to_form(KeyForm::Raw) else { return Ok(()) };
    let (suite, wanted, given) = (args.suite, args.suite.key_len(), raw.len());
    if given == wanted {
        return Ok(());
    }
    let other = Suite::ALL.iter().find(|suite| suite.key_len() == given);
    let hint = other.map(|suite| format!("a key of this length is for --suite {suite}"));
    let error = file_error(Error::KeyLength { suite, wanted, given }).hints(hint);
    Err(match args.key.key_file.first() {
        Some(path) => error.about(path),
        None => error,
    })
}

/// An error of sealing one input.
fn explain(error: Error, task: &FileTask) -> CommandError {
    file_error(error).about_unless_named(task.input.name("standard input"))
}
