//! Settings of a whole simulation in one file: the machine and its workload. A run is a pure function of them.

use crate::{
    config::{Config, assigned, overlay, parse},
    error::{ConfigError, toml_message},
    kernel::Kernel,
    run::{Report, RunError, Simulation, Workload, WorkloadSettings},
    trace::{Trace, TraceError},
};

/// A whole simulation as settings: the tables of [`Config`], `[workload]`, and `preset` for the machine to start from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The machine.
    pub config: Config,
    /// The workload.
    pub workload: WorkloadSettings,
    /// Whether they set the number of processors. If not, a trace determines it.
    pub counted: bool,
}

/// Why settings cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The settings are wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The trace that they name cannot be used.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Settings {
    /// Reads the settings in a file.
    ///
    /// # Errors
    /// When it is no TOML, or names what does not exist.
    pub fn parse(text: &str) -> Result<Settings, ConfigError> {
        Settings::over(None, parse(text)?)
    }

    /// Reads the settings in a file, as changes to those of a machine, unless the file names a preset.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn merge(base: &Config, text: &str) -> Result<Settings, ConfigError> {
        Settings::over(Some(base), parse(text)?)
    }

    /// Those of a table, over a machine, or over the preset that it names.
    pub(crate) fn over(base: Option<&Config>, mut table: toml::Table) -> Result<Settings, ConfigError> {
        let preset = match table.remove("preset") {
            None => None,
            Some(toml::Value::String(name)) => {
                let known = crate::config::PRESETS.join(", ");
                let unknown = || ConfigError(format!("there is no preset {name:?}: {known}"));
                Some(Config::preset(&name).ok_or_else(unknown)?)
            }
            Some(_) => return Err(ConfigError("preset must be a string".into())),
        };
        let workload = match table.remove("workload") {
            None => WorkloadSettings::default(),
            Some(value) => WorkloadSettings::default().with(value)?,
        };
        let machine = |config: &Config| config.clone();
        let base = preset.or_else(|| base.map(machine)).unwrap_or_default();
        let counted = table
            .get("machine")
            .and_then(toml::Value::as_table)
            .is_some_and(|machine| machine.contains_key("processors"));
        Ok(Settings { config: base.merge_table(table)?, workload, counted })
    }

    /// Changes one setting by `a.b=c`, as [`Config::set`] does, or one of the workload by `workload.a=c`.
    ///
    /// # Errors
    /// As there; for `preset`, which is what settings begin with.
    pub fn set(&mut self, setting: &str) -> Result<(), ConfigError> {
        let bad = |error| ConfigError(format!("{setting}: {error}"));
        let mut change = assigned(setting).map_err(bad)?;
        if change.contains_key("preset") {
            return Err(bad(ConfigError("a preset is not one setting: others are changes to it".into())));
        }
        if let Some(workload) = change.remove("workload") {
            self.workload = self.workload.with(workload).map_err(bad)?;
            return Ok(());
        }
        self.config = self.config.set(setting)?;
        let (name, value) = setting.split_once('=').unwrap_or_default();
        self.counted |= name == "machine.processors" || name == "machine" && value.contains("processors");
        Ok(())
    }

    /// All settings as a file that does not depend on defaults.
    ///
    /// # Errors
    /// When TOML cannot hold a setting: it has no whole numbers above 2^63 - 1.
    pub fn text(&self) -> Result<String, ConfigError> {
        let wrong = |error: toml::ser::Error| ConfigError(error.to_string());
        let mut table = toml::Table::try_from(&self.config).map_err(wrong)?;
        if let (false, Some(_), Some(toml::Value::Table(machine))) =
            (self.counted, &self.workload.trace, table.get_mut("machine"))
        {
            // The trace says how many
            machine.remove("processors");
        }
        if self.workload != WorkloadSettings::default() {
            let workload = toml::Table::try_from(&self.workload).map_err(wrong)?;
            table.insert("workload".to_owned(), workload.into());
        }
        toml::to_string(&table).map_err(wrong)
    }

    /// The workload, and the number of processors if the workload determines it.
    ///
    /// # Errors
    /// When nothing is named, or not what exists.
    pub fn workload(&self) -> Result<(Workload, Option<usize>), SettingsError> {
        let wrong = |why: String| SettingsError::Config(ConfigError(why));
        match (&self.workload.kernel, &self.workload.trace) {
            (Some(_), Some(_)) => Err(wrong("workload has a kernel and a trace".into())),
            (_, None) if self.workload.windows.is_some() => {
                Err(wrong("workload.windows are windows of a trace, and there is none".into()))
            }
            (None, None) => Err(wrong("workload names neither a kernel nor a trace".into())),
            (Some(name), None) => {
                let known = Kernel::NAMES.join(", ");
                let kernel = Kernel::by_name(name, self.workload.size)
                    .ok_or_else(|| wrong(format!("there is no kernel {name:?}: {known}")))?;
                Ok((Workload::Kernel(kernel, self.workload.align), None))
            }
            (None, Some(prefix)) => {
                let trace = Trace::find(prefix)?.region(self.workload.windows);
                let threads = trace.threads();
                Ok((Workload::Trace(trace), Some(threads)))
            }
        }
    }

    /// The simulation that these settings describe. The files of a trace are checked first.
    ///
    /// # Errors
    /// When they describe none.
    pub fn simulation(&self) -> Result<Simulation, SettingsError> {
        let (workload, threads) = self.workload()?;
        let mut config = self.config.clone();
        if let Some(threads) = threads {
            if self.counted && config.machine.processors != threads {
                let why = format!("the trace has {threads} threads, not {}", config.machine.processors);
                return Err(ConfigError(why).into());
            }
            config.machine.processors = threads;
        }
        config.check()?;
        if let Workload::Trace(trace) = &workload {
            trace.check(config.machine.line)?;
        }
        Ok(Simulation::new(config, workload))
    }
}

impl WorkloadSettings {
    /// These settings, overridden by those of the table `change`.
    fn with(&self, change: toml::Value) -> Result<WorkloadSettings, ConfigError> {
        let wrong = |error: toml::de::Error| ConfigError(format!("workload: {}", toml_message(&error)));
        let mut all = toml::Table::try_from(self).map_err(|error| ConfigError(format!("workload: {error}")))?;
        overlay(&mut all, change.try_into().map_err(wrong)?);
        all.try_into().map_err(wrong)
    }
}

/// Runs a settings file and returns the results: the unit of work of a sweep. The result depends only on the settings
/// and on the trace that they name.
///
/// # Errors
/// When the settings describe no run, or the run fails.
pub fn run(settings: &str) -> Result<Report, SettingsError> {
    Ok(Settings::parse(settings)?.simulation()?.run(&mut |_| {})?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FILE: &str = "preset = \"thesis-128\"\n[machine]\nprocessors = 2\n[scheme]\nname = \"gcm\"\n[workload]\nkernel = \"fft\"\nsize = 8\n";

    #[test]
    fn a_file_says_everything_that_a_run_needs() {
        let settings = Settings::parse(FILE).unwrap();
        assert_eq!((settings.config.machine.line, settings.config.l1.bytes), (128, 131_072));
        // Written out whole, it is the same run without the preset
        let whole = settings.text().unwrap();
        assert!(!whole.contains("preset") && whole.contains("kernel = \"fft\""), "{whole}");
        assert_eq!(Settings::parse(&whole).unwrap(), settings);
        let traced = Settings::parse("[workload]\ntrace = \"dir/a\"\n").unwrap();
        assert!(!traced.counted && !Settings::parse(&traced.text().unwrap()).unwrap().counted, "{traced:?}");
        let (one, two) = (run(FILE).unwrap(), run(&whole).unwrap());
        assert_eq!(one.stats, two.stats);
        assert!(one.stats.number("transfers.count") > 0.0);
    }

    #[test]
    fn a_number_of_processors_counts_however_it_is_set() {
        for setting in ["machine.processors=8", "machine={ processors = 8 }"] {
            let mut settings = Settings::parse("[workload]\ntrace = \"dir/a\"\n").unwrap();
            settings.set("machine.line=128").unwrap();
            assert!(!settings.counted);
            settings.set(setting).unwrap();
            assert!(settings.counted && settings.text().unwrap().contains("processors = 8"), "{setting}");
        }
    }

    #[test]
    fn a_setting_may_be_one_of_the_workload() {
        let mut settings = Settings::parse(FILE).unwrap();
        settings.set("workload.size=9").unwrap();
        settings.set("workload.align=true").unwrap();
        let wanted = WorkloadSettings { size: Some(9), align: true, ..Settings::parse(FILE).unwrap().workload };
        assert_eq!(settings, Settings { workload: wanted, ..Settings::parse(FILE).unwrap() });
        for (setting, why) in [
            ("workload.size=x", "workload.size=x: workload: invalid type: string \"x\", expected a whole number"),
            ("workload.sise=9", "unknown field `sise`"),
            ("workload=9", "expected a table"),
            ("preset=thesis", "preset=thesis: a preset is not one setting"),
        ] {
            let said = settings.set(setting).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_number_that_no_file_can_hold_is_refused() {
        let mut settings = Settings::parse(FILE).unwrap();
        settings.set("machine.seed=9223372036854775807").unwrap();
        assert!(settings.text().unwrap().contains("seed = 9223372036854775807"));
        let why = settings.set("machine.seed=9223372036854775808").unwrap_err().to_string();
        assert!(why.contains("9223372036854775808 exceeds the largest whole number of a setting"), "{why}");
        settings.config.machine.seed = 1 << 63;
        let why = settings.config.check().unwrap_err().to_string();
        assert!(why.contains("machine.seed is 9223372036854775808, not 0 to 9223372036854775807"), "{why}");
        settings.text().unwrap_err();
    }

    #[test]
    fn of_a_model_and_an_interval_the_later_counts() {
        let server =
            |more: &str| Settings::parse(&format!("preset = \"modern-server\"\n{more}")).unwrap().config.engines;
        assert_eq!(server("").interval, Some(4));
        assert_eq!(server("[engines]\nmodel = \"iterative\"\n").interval, None);
        assert_eq!(server("[engines]\nmodel = \"iterative\"\ninterval = 9\n").interval, Some(9));
        let mut settings = Settings::parse("preset = \"mesh-server\"\n").unwrap();
        settings.set("engines.model=window").unwrap();
        assert_eq!(settings.config.engines.interval, None);
        settings.set("engines.interval=7").unwrap();
        let whole = Settings::parse(&settings.text().unwrap()).unwrap();
        assert_eq!((whole.config.engines.interval, whole.config), (Some(7), settings.config));
    }

    /// What a run prints of its settings says which program it was.
    #[test]
    fn what_a_run_prints_tells_it_from_others() {
        let printed = |simulation: &Simulation| {
            let report = simulation.run(&mut |_| {}).unwrap();
            let tree = simulation.json(&report).unwrap();
            crate::Stats::from_json(&tree["config"]).unwrap()
        };
        let sized = |size: u32| {
            let text = FILE.replace("size = 8", &format!("size = {size}"));
            printed(&Settings::parse(&text).unwrap().simulation().unwrap())
        };
        let (small, large) = (sized(8), sized(10));
        let names: Vec<String> = small.differences(&large).into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["workload.size"]);
        assert_eq!(small.at("workload.kernel").unwrap(), "fft");
        let folder = tempfile::tempdir().unwrap();
        let written = |address: u64| {
            for thread in 0..2 {
                let mut writer = crate::trace::Writer::new(Vec::new());
                writer.refer(0, true, address, 3).unwrap();
                std::fs::write(folder.path().join(format!("t.{thread}.smpt")), writer.into_inner()).unwrap();
            }
            let settings = Settings::parse(&format!("[workload]\ntrace = {:?}\n", folder.path().join("t"))).unwrap();
            let mut simulation = settings.simulation().unwrap();
            assert_eq!(simulation.workload.settings(), settings.workload);
            let alone = printed(&simulation);
            simulation.attackers.push(crate::attack::Attacker::new(crate::attack::Attack::Flip, 9));
            assert_eq!(printed(&simulation).differences(&alone)[0].name, "attacks.0");
            alone
        };
        // Another recording of the same name
        let (first, second) = (written(64), written(128));
        let names: Vec<String> = first.differences(&second).into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["workload.digest"]);
    }

    #[test]
    fn wrong_settings_say_what_and_where() {
        for (file, why) in [
            ("preset = \"nothing\"\n", "there is no preset \"nothing\": thesis, thesis-128, modern-server"),
            ("preset = 7\n", "preset must be a string"),
            ("[bus]\nwidth = 1\nwidth = 2\n", "line 3"),
            ("[workload]\nkernal = \"fft\"\n", "workload: unknown field `kernal`"),
            ("[workload]\nkernel = \"fff\"\n", "there is no kernel \"fff\": fft, luc, lunc, radix"),
            ("[workload]\nkernel = \"fft\"\ntrace = \"a\"\n", "a kernel and a trace"),
            ("[workload]\nkernel = \"fft\"\nwindows = 1\n", "workload.windows are windows of a trace"),
            ("[workload]\ntrace = \"a\"\nwindows = \"3..1\"\n", "3..1: windows have the form 3 or 2..4"),
            ("[bus]\nwidth = 4\n", "neither a kernel nor a trace"),
            ("[workload]\nkernel = \"fft\"\n[bus]\nwidth = 0\n", "bus.width"),
        ] {
            let found = run(file).map(|_| ()).unwrap_err().to_string();
            assert!(found.contains(why), "{found}");
        }
    }
}
