//! The machine and what it runs, from arguments.

use std::path::PathBuf;

use clap::Args;
use sealwright_smp::{
    Config,
    config::PRESETS,
    engine::Model,
    kernel::Kernel,
    run::Workload,
    scheme::{Iv, Name},
    trace::Trace,
};
use sealwright_terminal::{CommandError, shown};

/// Which machine.
#[derive(Args, Debug)]
pub(crate) struct MachineArgs {
    /// Processors, 2 to 64 [default: 4, or as many as the trace has threads]
    #[arg(long, value_name = "N", help_heading = "Machine")]
    pub(crate) processors: Option<usize>,
    /// Bytes of a line, 64 or 128; caches are as the thesis has them for it
    #[arg(long, value_name = "BYTES", value_parser = ["64", "128"], help_heading = "Machine")]
    line: Option<String>,
    /// What stands between node and bus
    #[arg(long, value_name = "SCHEME", value_parser = Name::ALL.map(Name::name), help_heading = "Machine")]
    scheme: Option<String>,
    /// How often the AES unit may begin a line
    #[arg(long, value_name = "MODEL", value_parser = Model::ALL.map(Model::name), help_heading = "Machine")]
    engine: Option<String>,
    /// Start from a table of the thesis
    #[arg(long, value_name = "NAME", value_parser = PRESETS, conflicts_with = "line", help_heading = "Machine")]
    preset: Option<String>,
    /// Settings from a TOML file, over the preset
    #[arg(long, value_name = "FILE", help_heading = "Machine")]
    config: Option<PathBuf>,
    /// One setting, over everything else; may be given again
    #[arg(long, value_name = "A.B=C", help_heading = "Machine")]
    set: Vec<String>,
    /// Lay out IVs as the thesis does: they repeat
    #[arg(long, help_heading = "Machine")]
    faithful_iv: bool,
    /// Count time alone; seal nothing
    #[arg(long, help_heading = "Machine")]
    timing_only: bool,
}

/// What the processors run.
#[derive(Args, Debug)]
pub(crate) struct WorkArgs {
    /// A kernel
    #[arg(long, value_name = "NAME", value_parser = Kernel::NAMES, help_heading = "Workload")]
    workload: Option<String>,
    /// Its size: log2 of points or keys, or rows of the matrix [default: 16, 512 or 18]
    #[arg(long, value_name = "N", requires = "workload", help_heading = "Workload")]
    size: Option<u32>,
    /// Let arrays begin at pages, not 16 bytes past one as after malloc
    #[arg(long, requires = "workload", help_heading = "Workload")]
    align: bool,
    /// A recorded program: the files PREFIX.0.smpt.zst, PREFIX.1.smpt.zst, ...
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
                    let nothing = why.starts_with("no trace");
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
        let bad = |error: sealwright_smp::BadConfig| CommandError::usage(error);
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
        let words = [("shu.scheme", &self.scheme), ("shu.engine", &self.engine)];
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
            config.shu.iv = Iv::FaithfulSender;
        }
        if self.timing_only {
            config.shu.functional = false;
        }
        for setting in &self.set {
            config = config.set(setting).map_err(bad)?;
        }
        config.check().map_err(bad)?;
        Ok(config)
    }
}
