//! What happens, as lines of JSON: time, event, and what it is about. Never keys, never text.

use std::{
    fmt,
    io::Write,
    sync::{Mutex, PoisonError},
};

use serde_json::{Map, Value};

/// Where the lines go.
pub struct Log(Mutex<Box<dyn Write + Send>>);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Log {
    /// Lines to `out`.
    pub fn to(out: impl Write + Send + 'static) -> Log {
        Log(Mutex::new(Box::new(out)))
    }

    /// One event.
    pub fn say(&self, event: &str, about: &[(&str, Value)]) {
        let mut line = Map::new();
        line.insert("time".into(), jiff::Timestamp::now().to_string().into());
        line.insert("event".into(), event.into());
        line.extend(about.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A log that nobody reads must not stop the relay
        let _ = writeln!(out, "{}", Value::Object(line)).and_then(|()| out.flush());
    }
}
