//! JSON Lines: one test per object, one object per line.

use std::io::{BufRead, Read};

use serde_json::Value;

use crate::{Case, VectorFileError, fields, strict};

/// The longest line, so that a hostile file cannot take all memory. A file may have any number of lines.
pub(crate) const MAX_LINE: u64 = 8 << 20;

/// Calls `each` with the test in every line. Empty lines are skipped.
pub(crate) fn read(file: &str, mut lines: impl BufRead, each: &mut dyn FnMut(Case)) -> Result<(), VectorFileError> {
    let mut line = Vec::new();
    for number in 1.. {
        let place = format!("line {number}");
        let bad = |what: String| VectorFileError { file: file.into(), place: place.clone(), what };
        line.clear();
        let read = lines.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line);
        if read.map_err(|error| bad(error.to_string()))? == 0 {
            break;
        }
        if line.len() as u64 > MAX_LINE {
            return Err(bad("the line is longer than 8 MiB".into()));
        }
        let text = str::from_utf8(&line).map_err(|_| bad("not UTF-8".into()))?.trim();
        if text.is_empty() {
            continue;
        }
        let fields = match strict::parse(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(bad("not a JSON object".into())),
            Err(error) => return Err(bad(error.what.unwrap_or_else(|| "not a JSON object".into()))),
        };
        each(fields::case(fields, None, None, place.clone()).map_err(|error| bad(error.to_string()))?);
    }
    Ok(())
}
