//! `sealwright inspect`: describes a sealed file without a key; with one, lists a sealed directory.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{
    Content, Costs, Error, Input, Inspection, KeyKind, KeySource, inspect,
    slots::{Slot, SlotKind, Slots},
    tree::EntryKind,
};
use sealwright_terminal::{CommandError, Exit, shown};
use serde_json::json;

use crate::{
    error::file_error, exit_status::Worst, keys::unlock::UnlockArgs, protected_inputs::refuse_keys_as_names, range,
};

const EXAMPLES: &str = "\
Without --list no key is needed, and the output is not authenticated: `verify` and `open` check a file.
With --list the keys open the directory's list of files, which is authenticated.

Example:
    sealwright inspect letter.txt.seal
    sealwright inspect --json *.seal";

/// Describe sealed files without opening them; only --list needs a key
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// Sealed files; `-` or no file means standard input
    #[arg(value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Print one line of JSON for each file
    #[arg(long)]
    json: bool,
    /// List the files in a sealed directory; this needs a key, and the list is authenticated
    #[arg(long, conflicts_with = "json")]
    list: bool,
    #[command(flatten)]
    unlock: UnlockArgs,
}

/// Describes each file. A file that is not a sealed file does not stop the rest.
pub(crate) fn run(args: &InspectArgs) -> Result<Exit, CommandError> {
    refuse_keys_as_names(&args.inputs)?;
    if args.list {
        return list(args);
    }
    let stdin = [PathBuf::from("-")];
    let inputs = if args.inputs.is_empty() { &stdin[..] } else { &args.inputs };
    let mut worst = Worst::new();
    for path in inputs {
        let name = if path.as_os_str() == "-" { Path::new("standard input") } else { path };
        let input = if name == path { Input::open(path) } else { Input::stdin() };
        match input.and_then(inspect) {
            Ok(found) => {
                let text = if args.json { format!("{}\n", as_json(name, &found)) } else { as_text(name, &found) };
                worst.print(&text);
                if let Some(Err(flaw)) = found.text {
                    worst.failed(&file_error(Error::NotAuthentic(flaw)).about(name));
                }
            }
            Err(error) => worst.failed(&file_error(error).about_unless_named(name)),
        }
    }
    Ok(worst.exit())
}

const LIST: &str = "--list";

/// Prints mode, length and name of every entry in each sealed directory.
fn list(args: &InspectArgs) -> Result<Exit, CommandError> {
    if args.inputs.is_empty() {
        range::needs_file(Path::new("-"), LIST)?;
    }
    let ad = args.unlock.ad()?;
    let keys = args.unlock.keys()?;
    let opening = args.unlock.opening(&keys, &ad);
    let mut worst = Worst::new();
    for path in &args.inputs {
        match range::needs_file(path, LIST).and_then(|()| range::manifest(path, &opening)) {
            Ok((manifest, _)) => {
                for entry in manifest.entries() {
                    let (kind, end) = if entry.kind == EntryKind::Directory { ('d', "/") } else { ('-', "") };
                    let (mode, len, path) = (entry.mode, entry.len, shown(&entry.path));
                    worst.print(&format!("{kind}{mode:03o} {len:>12} {path}{end}\n"));
                }
            }
            Err(error) => worst.failed(&error),
        }
    }
    Ok(worst.exit())
}

fn as_text(name: &Path, found: &Inspection) -> String {
    let mut text = format!("{}\n", shown(name));
    let mut row = |label: &str, value: String| text += &format!("  {label:<8} {value}\n");
    row("format", format!("version {}", found.version));
    row("suite", found.preamble.suite.to_string());
    match found.preamble.layout.content {
        Content::Tree => row("holds", "a directory".into()),
        Content::List => row("holds", "a manifest of the files in its directory".into()),
        _ => {}
    }
    if found.armored {
        row("armored", "yes".into());
    }
    if found.preamble.layout.signed {
        row("signed", "yes".into());
    }
    row(
        "opens",
        match &found.preamble.source {
            KeySource::Passphrase { costs, .. } => format!("with a passphrase, Argon2id: {costs}"),
            KeySource::Recipients(slots) => format!("with any of {}", kinds(slots)),
            _ => format!("with {}", KeyKind::Raw),
        },
    );
    if let Some(sealed) = found.sealed {
        row("sealed", format!("{sealed} bytes"));
    }
    match (&found.text, found.chunks) {
        (Some(Ok(bytes)), Some(chunks)) => {
            let most = if found.preamble.layout.padded { "padded, at most " } else { "" };
            row("text", format!("{most}{bytes} bytes in {chunks} {}", if chunks == 1 { "chunk" } else { "chunks" }));
        }
        // The length of a stream is unknown.
        (None, _) if found.preamble.layout.padded => row("padded", "yes".into()),
        (Some(Err(_)), _) => row("text", "damaged: no sealed file has this length".into()),
        _ => {}
    }
    text
}

/// The number of slots of each kind.
fn kinds(slots: &Slots) -> String {
    let count = |is: fn(&SlotKind) -> bool| slots.iter().filter(|slot| is(slot.kind())).count();
    let kinds = [
        (count(|kind| matches!(kind, SlotKind::Public { .. })), "secret key"),
        (count(|kind| matches!(kind, SlotKind::SshEd25519 { .. } | SlotKind::SshRsa { .. })), "SSH key"),
        (count(|kind| matches!(kind, SlotKind::Raw)), "raw key"),
        (count(|kind| matches!(kind, SlotKind::Passphrase { .. })), "passphrase"),
        (count(|kind| matches!(kind, SlotKind::Unknown { .. })), "key of an unknown kind"),
    ];
    let named = kinds.iter().filter(|(count, _)| *count > 0);
    let named = named.map(|(count, name)| format!("{count} {name}{}", if *count == 1 { "" } else { "s" }));
    named.collect::<Vec<_>>().join(", ")
}

/// A slot as a JSON object.
fn slot_json(slot: &Slot) -> serde_json::Value {
    let kind = slot.kind();
    match kind {
        SlotKind::Passphrase { costs, .. } => json!({ "kind": kind.name(), "argon2id": costs_json(costs) }),
        _ => json!({ "kind": kind.name() }),
    }
}

fn costs_json(costs: &Costs) -> serde_json::Value {
    json!({ "memory_kib": costs.memory_kib, "passes": costs.passes, "lanes": costs.lanes })
}

fn as_json(name: &Path, found: &Inspection) -> serde_json::Value {
    let source = &found.preamble.source;
    let (argon2id, slots) = match source {
        KeySource::Passphrase { costs, .. } => (costs_json(costs), json!(null)),
        KeySource::Recipients(slots) => (json!(null), slots.iter().map(slot_json).collect()),
        _ => (json!(null), json!(null)),
    };
    let mut found = json!({
        "file": name.to_string_lossy(),
        "version": found.version,
        "suite": found.preamble.suite.name(),
        "content": found.preamble.layout.content.name(),
        "armored": found.armored,
        "key_source": source.name(),
        "argon2id": argon2id,
        "slots": slots,
        "sealed_bytes": found.sealed,
        "signed": found.preamble.layout.signed,
        "padded": found.preamble.layout.padded,
        "text_bytes": found.text.as_ref().and_then(|text| text.as_ref().ok()),
        "chunks": found.chunks,
        "flaw": found.text.as_ref().and_then(|text| text.as_ref().err()).map(ToString::to_string),
    });
    // JSON strings must be Unicode: without the bytes, two different names could look the same.
    if name.to_str().is_none() {
        let bytes = name.as_os_str().as_encoded_bytes();
        found["file_hex"] = json!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
    found
}
