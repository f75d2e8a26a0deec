//! `sealwright rekey`: other keys for sealed files, without sealing them anew.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Costs, Error, Key, Recipient, Rekeyed, Rekeying, Removal};
use sealwright_terminal::{CommandError, Exit, say, shown};

#[cfg(feature = "signatures")]
use crate::keys::signing::SignerArgs;
use crate::{
    error::file_error,
    exit_status::Worst,
    keys::{
        ceiling, pairs,
        prompt::{self, Purpose},
        secret,
        unlock::UnlockArgs,
    },
    protected_inputs::refuse_keys_as_names,
    rekey_targets::{Chosen, ChosenArgs},
    stream,
};

const EXAMPLES: &str = "\
The text is not sealed again: the file gets a new header and replaces the old file in one step. This cannot
undo earlier access: somebody who could open the file may have kept a copy of it, or of the file key, which
does not change. To exclude a person from later versions, seal those versions again. Other names of the file
(hard links) are not changed. If the file belongs to somebody else, you become its owner, and its group becomes yours
unless you are a member of it. Both cases are reported.

A directory that was sealed with `seal --each` has a manifest, which is a sealed file as well: --each changes the
keys of the manifest and of its files. New keys are given only to files that the manifest lists.
A directory with neither sealed files nor a manifest is an error.

Example:
    sealwright rekey plan.seal -i my.id --add-file eva.pub       # Eva can open it as well
    sealwright rekey plan.seal -i my.id --remove-file bob.pub    # Bob can no longer open it
    sealwright rekey --each sealed -i my.id --remove-file bob.pub
    sealwright rekey plan.seal -i my.id --add-passphrase         # whoever knows the passphrase can open it as well";

/// Change who can open files that were sealed for recipients
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RekeyArgs {
    #[command(flatten)]
    chosen: ChosenArgs,
    #[command(flatten)]
    unlock: UnlockArgs,
    #[cfg(feature = "signatures")]
    #[command(flatten)]
    signer: SignerArgs,
    /// Let the holder of the public KEY open the files
    #[arg(long, value_name = "KEY", help_heading = "Change")]
    add: Vec<String>,
    /// Let the holders of the public keys in FILE open the files
    #[arg(long, value_name = "FILE", help_heading = "Change")]
    add_file: Vec<PathBuf>,
    /// Let the key in FILE open the files
    #[arg(long, value_name = "FILE", help_heading = "Change")]
    add_key_file: Vec<PathBuf>,
    /// Let a passphrase open the files, and ask for it on the terminal
    #[arg(long, help_heading = "Change")]
    add_passphrase: bool,
    /// Let the first line that CMD prints open the files, as a passphrase
    #[arg(long, value_name = "CMD", conflicts_with = "add_passphrase", help_heading = "Change")]
    add_passphrase_command: Option<String>,
    /// Memory that is needed to try the new passphrase
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = ceiling::cost, help_heading = "Change")]
    cost: Costs,
    /// Remove the public KEY
    #[arg(long, value_name = "KEY", help_heading = "Change")]
    remove: Vec<String>,
    /// Remove the public keys in FILE
    #[arg(long, value_name = "FILE", help_heading = "Change")]
    remove_file: Vec<PathBuf>,
    /// Remove the key in FILE
    #[arg(long, value_name = "FILE", help_heading = "Change")]
    remove_key_file: Vec<PathBuf>,
    /// Remove all passphrases
    #[arg(long, help_heading = "Change")]
    remove_passphrases: bool,
}

/// Changes the keys of each file; one that fails does not stop the rest.
pub(crate) fn run(args: &RekeyArgs) -> Result<Exit, CommandError> {
    let (adds, removes) = (added(args), removed(args)?);
    if !adds && removes.is_empty() {
        return Err(CommandError::usage("nothing to change").hint("name keys with --add... or --remove..."));
    }
    refuse_keys_as_names(&args.chosen.files)?;
    args.unlock.refuse_none()?;
    #[cfg(feature = "signatures")]
    let signer_files = args.signer.files();
    #[cfg(not(feature = "signatures"))]
    let signer_files: &[PathBuf] = &[];
    if !args.chosen.each && (args.unlock.has_ad() || !signer_files.is_empty()) {
        return Err(CommandError::usage("--ad, --ad-file and --signer are for directories with --each"));
    }
    let beside = args.unlock.files(signer_files)?;
    stream::refuse_two_uses(false, &beside)?;
    let adds_passphrase = args.add_passphrase || args.add_passphrase_command.is_some();
    let costs = args.cost;
    if adds_passphrase && !args.chosen.quiet {
        ceiling::warn_of(costs);
    }
    let keys = args.unlock.keys()?;
    let add = additions(args)?;
    let ad = args.unlock.ad()?;
    let opening = args.unlock.opening(&keys, &ad);
    #[cfg(feature = "signatures")]
    let signers = args.signer.read()?;
    #[cfg(feature = "signatures")]
    let opening = opening.signers(&signers);
    let mut worst = Worst::new();
    let chosen = Chosen::new(&args.chosen, adds, &opening, &mut worst);
    for target in &chosen.targets {
        let path = &target.path;
        let rekeying = Rekeying::new(&keys).adding(&add).removing(&removes).costs(costs).ceiling(args.unlock.max_cost);
        let done = match &target.found {
            None => rekeying.run(path),
            Some((found, listed)) => {
                let only = listed.map(|listed| opening.clone().commitment(Some(listed)));
                rekeying.run_found(found, only.as_ref())
            }
        };
        match done {
            Ok(_) if args.chosen.quiet => {}
            Ok(done) => {
                worst.print(&format!(
                    "{}: {} added, {} removed, {} can open it\n",
                    shown(path),
                    done.added,
                    done.removed,
                    if done.slots == 1 { "1 key".into() } else { format!("{} keys", done.slots) }
                ));
                warn(path, &done);
            }
            Err(error @ Error::Replaced(_)) => {
                worst.failed(&file_error(error).hint("nothing was changed; try again"));
            }
            Err(error) => worst.failed(&file_error(error).about_unless_named(path)),
        }
    }
    if !args.chosen.quiet {
        for manifest in chosen.left_behind(&args.chosen.files) {
            say(format_args!(
                "sealwright: warning: {}: its keys were not changed; --each changes them together with those of its files",
                shown(&manifest)
            ));
        }
    }
    Ok(worst.exit())
}

/// Warns about properties of the old file that the new one does not have.
fn warn(path: &Path, done: &Rekeyed) {
    if done.other_names > 0 {
        let names =
            if done.other_names == 1 { "1 other name".into() } else { format!("{} other names", done.other_names) };
        say(format_args!(
            "sealwright: warning: {}: {names} of the file (hard links) were not changed: the former keys still open it there",
            shown(path)
        ));
    }
    if let Some([(user, group), (user_now, group_now)]) = done.owners {
        say(format_args!(
            "sealwright: warning: {}: belongs to user {user_now} and group {group_now} now, and before to user {user} and group \
             {group}: who could read it may not be able to any more",
            shown(path)
        ));
    }
}

/// Whether keys will be added. Passphrases are asked for only once the keys for opening are available.
fn added(args: &RekeyArgs) -> bool {
    !args.add.is_empty()
        || !args.add_file.is_empty()
        || !args.add_key_file.is_empty()
        || args.add_passphrase
        || args.add_passphrase_command.is_some()
}

fn additions(args: &RekeyArgs) -> Result<Vec<Recipient>, CommandError> {
    let mut add: Vec<Recipient> =
        pairs::public_keys(&args.add, &args.add_file, "--add-file FILE takes the keys in a file")?
            .into_iter()
            .map(Recipient::PublicKey)
            .collect();
    for path in &args.add_key_file {
        add.push(Recipient::Key(secret::key_file(path, Some(secret::NEW_KEY))?));
    }
    let passphrase = match &args.add_passphrase_command {
        Some(command) => Some(secret::from_command(command)?),
        None if args.add_passphrase => {
            Some(prompt::passphrase(Purpose::Add, "in scripts use --add-passphrase-command")?)
        }
        None => None,
    };
    if let Some(passphrase) = passphrase {
        add.push(Recipient::Key(Key::passphrase(passphrase.as_slice()).map_err(file_error)?));
    }
    Ok(add)
}

fn removed(args: &RekeyArgs) -> Result<Vec<Removal>, CommandError> {
    let mut remove: Vec<Removal> =
        pairs::public_keys(&args.remove, &args.remove_file, "--remove-file FILE takes the keys in a file")?
            .into_iter()
            .map(Removal::PublicKey)
            .collect();
    for path in &args.remove_key_file {
        remove.push(Removal::Key(secret::key_file(path, None)?));
    }
    if args.remove_passphrases {
        remove.push(Removal::Passphrases);
    }
    Ok(remove)
}
