//! The arguments that describe the machine and its workload.

use std::path::PathBuf;

use clap::Args;
use sealwright_smp::{
    Config, ConfigError,
    config::PRESETS,
    engine::{Model, Units},
    kernel::Kernel,
    run::{RunError, SimulationError, WorkloadSettings},
    scheme::SchemeName,
    settings::{Settings, SettingsError},
    trace::{TraceError, Windows},
};
use sealwright_terminal::{CommandError, Exit, shown};

/// The machine.
#[derive(Args, Debug)]
pub(crate) struct MachineArgs {
    /// Number of processors, 2 to 64 [default: 4, or the number of threads in the trace]
    #[arg(long, value_name = "N", help_heading = "Machine")]
    pub(crate) processors: Option<usize>,
    /// Bytes in a cache line, 64 or 128; the caches are those of the thesis for that size
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = ["64", "128"],
        conflicts_with = "config",
        help_heading = "Machine"
    )]
    line: Option<String>,
    /// Scheme that protects transfers
    #[arg(long, value_name = "SCHEME", value_parser = SchemeName::all().map(SchemeName::as_str).collect::<Vec<_>>(), help_heading = "Machine")]
    scheme: Option<String>,
    /// How often an AES engine can start a line
    #[arg(long, value_name = "MODEL", value_parser = Model::ALL.map(Model::name), help_heading = "Machine")]
    engine: Option<String>,
    /// Engines of a node: thesis (those in the thesis), equal (the same for every scheme) or generous (as many as
    /// needed)
    #[arg(long, value_name = "UNITS", value_parser = Units::ALL.map(Units::name), help_heading = "Machine")]
    units: Option<String>,
    /// Start from a preset: the thesis's machine (with 64-byte or 128-byte lines), or a current server with a bus or a
    /// mesh
    #[arg(long, value_name = "NAME", value_parser = PRESETS, conflicts_with = "line", help_heading = "Machine")]
    preset: Option<String>,
    /// Settings in a TOML file, as smp settings prints them; they override the preset
    #[arg(long, value_name = "FILE", help_heading = "Machine")]
    config: Option<PathBuf>,
    /// One setting, of the machine or of the workload; overrides everything else; can be repeated
    #[arg(long, value_name = "A.B=C", help_heading = "Machine")]
    set: Vec<String>,
    /// Construct the IVs of GCM as in the thesis, which repeats them
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
    /// Align arrays to pages, instead of 16 bytes after a page boundary as malloc does
    #[arg(long, requires = "workload", help_heading = "Workload")]
    align: bool,
    /// Trace to run: the files PREFIX.0.smpt.zst, PREFIX.1.smpt.zst, ...
    #[arg(long, value_name = "PREFIX", conflicts_with = "workload", help_heading = "Workload")]
    trace: Option<PathBuf>,
    /// Windows of a drmemtrace that statistics cover: 3, or 2..4 (inclusive) [default: the whole run]
    #[arg(long, value_name = "A..B", requires = "trace", help_heading = "Workload")]
    windows: Option<Windows>,
}

impl WorkArgs {
    /// Combines the workload of the settings file with the options of the command line, which have precedence.
    fn over(&self, file: WorkloadSettings) -> WorkloadSettings {
        let (kernel, trace) = (self.workload.clone(), self.trace.clone());
        if kernel.is_none() && trace.is_none() {
            return file;
        }
        WorkloadSettings { kernel, size: self.size, align: self.align, trace, windows: self.windows }
    }
}

impl MachineArgs {
    /// Whether a scheme is chosen: by an option, or in a file that names another one than the default.
    pub(crate) fn names_scheme(&self, config: &Config) -> bool {
        let set = self.set.iter().any(|setting| setting.starts_with("scheme.name="));
        self.scheme.is_some() || set || config.scheme.name != SchemeName::CLEAR
    }

    /// The settings of the whole simulation: the preset, then the file, then the other options.
    pub(crate) fn settings(&self, work: Option<&WorkArgs>) -> Result<Settings, CommandError> {
        let bad = |error: ConfigError| CommandError::usage(error);
        let line = if self.line.as_deref() == Some("128") { 128 } else { 64 };
        let base = match &self.preset {
            Some(name) => Config::preset(name).ok_or_else(|| CommandError::usage("no such preset"))?,
            None => Config::for_line(line),
        };
        let mut settings = Settings { config: base, ..Settings::default() };
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(|error| CommandError::io(path, &error))?;
            settings = Settings::merge(&settings.config, &text)
                .map_err(|error| CommandError::failed(format_args!("{}: {error}", shown(path))))?;
        }
        if let Some(interval) = self.set.iter().find(|set| self.engine.is_some() && set.starts_with("engines.interval"))
        {
            let what = format_args!("--engine and --set {interval} both say how often an AES engine can start a line");
            return Err(CommandError::usage(what).hint("leave one of them out"));
        }
        let mut config = settings.config;
        let words = [("scheme.name", &self.scheme), ("engines.model", &self.engine), ("engines.units", &self.units)];
        for (name, word) in words {
            if let Some(word) = word {
                config = config.set(&format!("{name}={word}")).map_err(bad)?;
            }
        }
        if let Some(processors) = self.processors {
            (config.machine.processors, settings.counted) = (processors, true);
        }
        if self.faithful_iv {
            config = config.set("scheme.gcm.iv=faithful-sender").map_err(bad)?;
        }
        if self.timing_only {
            config.scheme.functional = false;
        }
        settings.config = config;
        if let Some(work) = work {
            settings.workload = work.over(settings.workload);
        }
        for setting in &self.set {
            let of = setting.split(['=', '.']).next().unwrap_or_default().trim();
            if of == "workload" && work.is_none() {
                let what = format_args!("--set {setting}: options name the workload of attacks");
                return Err(CommandError::usage(what).hint("--workload NAME --size N"));
            }
            let hint = (of == "preset").then_some("--preset NAME names it");
            settings.set(setting).map_err(|error| CommandError::usage(format_args!("--set {error}")).hints(hint))?;
        }
        settings.config.check().map_err(bad)?;
        Ok(settings)
    }
}

/// Invalid settings are a usage error; a trace that cannot be used or a failed run is a failure.
pub(super) fn unusable(error: SettingsError) -> CommandError {
    match error {
        SettingsError::Config(error) if error.to_string().contains("neither a kernel nor a trace") => {
            CommandError::usage("nothing to run")
                .hint("--workload fft, --trace PREFIX, or --config FILE with a workload")
        }
        SettingsError::Config(error) if error.to_string().starts_with("the trace has") => {
            CommandError::usage(error).hint("leave --processors and machine.processors out")
        }
        SettingsError::Config(error) => CommandError::usage(error),
        SettingsError::Trace(why) => {
            let nothing = matches!(why, TraceError::Missing(_));
            let no_window = matches!(&why, TraceError::Unplayable(what) if what.contains(": no window "));
            let failure = CommandError::failed(why);
            let hint = "--trace takes the part before the thread number: dir/fft for dir/fft.0.smpt.zst";
            match () {
                () if nothing => failure.hint(hint),
                () if no_window => failure.hint("smp trace PREFIX lists the windows"),
                () => failure,
            }
        }
        SettingsError::Run(error) => failed(error),
    }
}

/// Settings that do not describe a valid machine are a usage error; any other failed run is a failure.
pub(super) fn failed(error: RunError) -> CommandError {
    match error {
        RunError::Config(_) | RunError::Kernel(_) => CommandError::usage(error),
        RunError::Dump { file, error } => CommandError::io(&file, &error),
        RunError::Trace(_) | RunError::Machine(_) => CommandError::failed(error),
    }
}

/// The error for a run without a result; an alarm of the scheme is reported as not authentic.
pub(super) fn failed_run(failure: SimulationError) -> CommandError {
    match failure {
        SimulationError::Detected(_) => CommandError::new(Exit::NotAuthentic, failure),
        SimulationError::Deadlock(_) | SimulationError::Wrong(_) | SimulationError::Lost(_) => {
            CommandError::failed(failure)
        }
        SimulationError::Cold(references) => {
            CommandError::failed(failure).hint(format_args!("--set machine.warm_up=N with N of at most {references}"))
        }
    }
}
