//! `sealwright inspect`: what a sealed file tells without a key.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{
    Costs, Error, Input, Inspection, KeySource, inspect,
    slots::{Slot, SlotKind, Slots},
};
use sealwright_terminal::{CommandError, Exit, print, say, shown};
use serde_json::json;

use crate::error::file_error;

const EXAMPLES: &str = "\
Nothing of it is proven: only opening proves a file.

Example:
    sealwright inspect letter.txt.seal
    sealwright inspect --json *.seal";

/// Tell what a sealed file says of itself; needs no key
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// Sealed files; `-` or nothing is standard input
    #[arg(value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Print one JSON object a line for each file
    #[arg(long)]
    json: bool,
}

/// Looks at each file; one that is no sealed file does not stop the rest.
pub(crate) fn run(args: &InspectArgs) -> Result<Exit, CommandError> {
    let stdin = [PathBuf::from("-")];
    let inputs = if args.inputs.is_empty() { &stdin[..] } else { &args.inputs };
    let mut worst = Exit::Done;
    for path in inputs {
        let name = if path.as_os_str() == "-" { Path::new("standard input") } else { path };
        let mut complain = |failure: CommandError| {
            say(&failure);
            worst = failure.exit().max(worst);
        };
        let input = if name == path { Input::open(path) } else { Input::stdin() };
        match input.and_then(inspect) {
            Ok(found) => {
                let told = if args.json { format!("{}\n", as_json(name, &found)) } else { as_text(name, &found) };
                print(&told)?;
                if let Some(Err(flaw)) = found.text {
                    complain(file_error(Error::NotAuthentic(flaw)).about(name));
                }
            }
            Err(error) => complain(file_error(error).about_unless_named(name)),
        }
    }
    Ok(worst)
}

fn as_text(name: &Path, found: &Inspection) -> String {
    let mut text = format!("{}\n", shown(name));
    let mut row = |label: &str, value: String| text += &format!("  {label:<8} {value}\n");
    row("format", format!("version {}", found.version));
    row("suite", found.preamble.suite.to_string());
    row(
        "opens",
        match &found.preamble.source {
            KeySource::Passphrase { costs, .. } => format!("with a passphrase, Argon2id: {costs}"),
            KeySource::Recipients(slots) => format!("with any of {}", kinds(slots)),
            other => format!("with {}", other.wants()),
        },
    );
    if let Some(sealed) = found.sealed {
        row("sealed", format!("{sealed} bytes"));
    }
    match (&found.text, found.chunks()) {
        (Some(Ok(bytes)), Some(chunks)) => {
            row("text", format!("{bytes} bytes in {chunks} {}", if chunks == 1 { "chunk" } else { "chunks" }));
        }
        (Some(Err(_)), _) => row("text", "damaged: no text makes a file of this length".into()),
        _ => {}
    }
    text
}

/// How many slots there are of each kind.
fn kinds(slots: &Slots) -> String {
    let count = |is: fn(&SlotKind) -> bool| slots.iter().filter(|slot| is(slot.kind())).count();
    let kinds = [
        (count(|kind| matches!(kind, SlotKind::Public { .. })), "secret key"),
        (count(|kind| matches!(kind, SlotKind::Raw)), "raw key"),
        (count(|kind| matches!(kind, SlotKind::Passphrase { .. })), "passphrase"),
        (count(|kind| matches!(kind, SlotKind::Unknown { .. })), "key of an unknown kind"),
    ];
    let named = kinds.iter().filter(|(count, _)| *count > 0);
    let named = named.map(|(count, name)| format!("{count} {name}{}", if *count == 1 { "" } else { "s" }));
    named.collect::<Vec<_>>().join(", ")
}

/// A slot as an object.
fn slot_json(slot: &Slot) -> serde_json::Value {
    match slot.kind() {
        SlotKind::Raw => json!({ "kind": "raw" }),
        SlotKind::Passphrase { costs, .. } => json!({ "kind": "passphrase", "argon2id": costs_json(costs) }),
        SlotKind::Public { .. } => json!({ "kind": "public" }),
        _ => json!({ "kind": "unknown" }),
    }
}

fn costs_json(costs: &Costs) -> serde_json::Value {
    json!({ "memory_kib": costs.memory_kib, "passes": costs.passes, "lanes": costs.lanes })
}

fn as_json(name: &Path, found: &Inspection) -> serde_json::Value {
    let (source, argon2id, slots) = match &found.preamble.source {
        KeySource::Passphrase { costs, .. } => ("passphrase", costs_json(costs), json!(null)),
        KeySource::Recipients(slots) => ("recipients", json!(null), slots.iter().map(slot_json).collect()),
        _ => ("raw", json!(null), json!(null)),
    };
    json!({
        "file": name.to_string_lossy(),
        "version": found.version,
        "suite": found.preamble.suite.name(),
        "key_source": source,
        "argon2id": argon2id,
        "slots": slots,
        "sealed_bytes": found.sealed,
        "text_bytes": found.text.as_ref().and_then(|text| text.as_ref().ok()),
        "chunks": found.chunks(),
        "flaw": found.text.as_ref().and_then(|text| text.as_ref().err()).map(ToString::to_string),
    })
}
