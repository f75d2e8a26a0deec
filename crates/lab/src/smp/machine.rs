//! The arguments that describe the machine and its workload.

use std::path::PathBuf;

use clap::Args;
use sealwright_smp::{
    Config,
    config::PRESETS,
    engine::{Model, Units},
    kernel::Kernel,
    run::Workload,
    scheme::SchemeName,
    trace::{Trace, TraceError},
};
use sealwright_terminal::{CommandError, shown};

/// The machine.
#[derive(Args, Debug)]
pub(crate) struct MachineArgs {
    /// Number of processors, 2 to 64 [default: 4, or the number of threads in the trace]
    #[arg(long, value_name = "N", help_heading = "Machine")]
    pub(crate) processors: Option<usize>,
    /// Bytes in a cache line, 64 or 128; the caches are those of the thesis for that size
    #[arg(long, value_name = "BYTES", value_parser = ["64", "128"], help_heading = "Machine")]
    line: Option<String>,
    /// Scheme that seals transfers on the bus
    #[arg(long, value_name = "SCHEME", value_parser = SchemeName::all().map(SchemeName::as_str).collect::<Vec<_>>(), help_heading = "Machine")]
    scheme: Option<String>,
    /// How often an AES engine can start a line
    #[arg(long, value_name = "MODEL", value_parser = Model::ALL.map(Model::name), help_heading = "Machine")]
    engine: Option<String>,
    /// How many engines a node has: thesis (what the thesis gives each scheme), equal or generous
    #[arg(long, value_name = "UNITS", value_parser = Units::ALL.map(Units::name), help_heading = "Machine")]
    units: Option<String>,
    /// Start from a table of the thesis
    #[arg(long, value_name = "NAME", value_parser = PRESETS, conflicts_with = "line", help_heading = "Machine")]
    preset: Option<String>,
    /// Settings in a TOML file; they override the preset
    #[arg(long, value_name = "FILE", help_heading = "Machine")]
    config: Option<PathBuf>,
    /// One setting; overrides everything else; can be repeated
    #[arg(long, value_name = "A.B=C", help_heading = "Machine")]
    set: Vec<String>,
    /// Construct IVs as in the thesis; they repeat
    #[arg(long, help_heading = "Machine")]
    faithful_iv: bool,
    /// Simulate time only, without encryption
    #[arg(long, help_heading = "Machine")]
    timing_only: bool,
}

/// The workload.
#[derive(Args, Debug)]
pub(crate) struct WorkArgs {
    /// Kernel to run
    #[arg(long, value_name = "NAME", value_parser = Kernel::NAMES, help_heading = "Workload")]
    workload: Option<String>,
    /// Size of the kernel: log2 of points or keys, or rows of the matrix [default: 16, 512 or 18]
    #[arg(long, value_name = "N", requires = "workload", help_heading = "Workload")]
    size: Option<u32>,
    /// Align arrays to pages, and not to 16 bytes after a page as malloc does
    #[arg(long, requires = "workload", help_heading = "Workload")]
    align: bool,
    /// Trace to run: the files PREFIX.0.smpt.zst, PREFIX.1.smpt.zst, ...
    #[arg(long, value_name = "PREFIX", conflicts_with = "workload", help_heading = "Workload")]
    trace: Option<PathBuf>,
}

impl WorkArgs {
    /// The workload, and its number of processors if it prescribes one.
    pub(crate) fn workload(&self) -> Result<(Workload, Option<usize>), CommandError> {
        match (&self.workload, &self.trace) {
            (Some(name), _) => {
                let kernel = Kernel::by_name(name, self.size).ok_or_else(|| CommandError::usage("no such kernel"))?;
                Ok((Workload::Kernel(kernel, self.align), None))
            }
            (None, Some(prefix)) => {
                let trace = Trace::find(prefix).map_err(|why| {
                    let nothing = matches!(why, TraceError::Missing(_));
                    let failure = CommandError::failed(why);
                    let hint = "--trace takes the name up to the thread's number: dir/fft for dir/fft.0.smpt.zst";
                    if nothing { failure.hint(hint) } else { failure }
                })?;
                let threads = trace.files.len();
                Ok((Workload::Trace(trace), Some(threads)))
            }
            (None, None) => Err(CommandError::usage("nothing to run").hint("--workload fft, or --trace PREFIX")),
        }
    }
}

impl MachineArgs {
    /// The machine, for a workload that may prescribe its processors.
    pub(crate) fn config(&self, threads: Option<usize>) -> Result<Config, CommandError> {
        let bad = |error: sealwright_smp::ConfigError| CommandError::usage(error);
        let line = if self.line.as_deref() == Some("128") { 128 } else { 64 };
        let mut config = match &self.preset {
            Some(name) => Config::preset(name).ok_or_else(|| CommandError::usage("no such preset"))?,
            None => Config::for_line(line),
        };
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(|error| CommandError::io(path, &error))?;
            config =
                config.merge(&text).map_err(|error| CommandError::failed(format_args!("{}: {error}", shown(path))))?;
        }
        let words = [("scheme.name", &self.scheme), ("engines.model", &self.engine), ("engines.units", &self.units)];
        for (name, word) in words {
            if let Some(word) = word {
                config = config.set(&format!("{name}={word}")).map_err(bad)?;
            }
        }
        match (self.processors, threads) {
            (Some(asked), Some(threads)) if asked != threads => {
                return Err(CommandError::usage(format_args!("the trace has {threads} threads, not {asked}"))
                    .hint("leave --processors out"));
            }
            (Some(processors), _) | (None, Some(processors)) => config.machine.processors = processors,
            (None, None) => {}
        }
        if self.faithful_iv {
            config = config.set("scheme.gcm.iv=faithful-sender").map_err(bad)?;
        }
        if self.timing_only {
            config.scheme.functional = false;
        }
        for setting in &self.set {
            config = config.set(setting).map_err(bad)?;
        }
        config.check().map_err(bad)?;
        Ok(config)
    }
}
