//! `sealwright-lab measure`: tests of the measuring instrument itself.

use std::{
    io,
    process::{Command, Stdio},
    time::Duration,
};

use clap::{Args, Subcommand};
use sealwright::{Isa, Suite};
use sealwright_measure::{
    Cell, Column, Machine, Meter, Placed, Table, Work, aa,
    random::{self, Random},
    state::Ticks,
};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, print};
use serde::Serialize;
use serde_json::json;

use crate::{status::Status, study};

const EXAMPLES: &str = "\
Two copies of the same code (AES-256-GCM, sealing in place, each with its own key and its own buffer) are compared in
hundreds of processes; the true ratio of their times is 1. Random sets of 10 processes then form tests, whose 95 %
intervals should exclude 1 in at most 7 % of the tests, and by more than 2 % in at most 1 %. Otherwise the machine is
too noisy for these intervals, and the exit code is 1.

Example:
    sealwright-lab measure aa --quick
    sealwright-lab measure aa --json";

/// Test the measuring instrument
#[derive(Args, Debug)]
pub(crate) struct MeasureArgs {
    #[command(subcommand)]
    verb: Test,
}

#[derive(Subcommand, Debug)]
enum Test {
    /// Compare the same code with itself
    #[command(after_help = EXAMPLES)]
    Aa(AaArgs),
}

#[derive(Args, Debug)]
struct AaArgs {
    /// Start 60 processes for each size instead of 300
    #[arg(long)]
    quick: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Internal: run as one of the processes, with messages of this size
    #[arg(long, hide = true)]
    start: Option<usize>,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// Message sizes for which the placement of buffers matters little, more, and most.
const SIZES: [usize; 3] = [40, 1500, 8 << 20];
/// The number of tests drawn from the processes, and the number of processes in each.
const TRIALS: usize = 1000;
const STARTS: usize = 10;

/// The JSON output.
#[derive(Serialize)]
struct Report {
    machine: Machine,
    seconds: f64,
    sizes: Vec<Size>,
}

#[derive(Serialize)]
struct Size {
    bytes: usize,
    processes: usize,
    #[serde(flatten)]
    outcome: aa::Outcome,
}

/// Runs the whole test, or with `--start` one of its processes.
pub(crate) fn run(args: &MeasureArgs) -> Result<Exit, CommandError> {
    let Test::Aa(args) = &args.verb;
    if let Some(bytes) = args.start {
        let ratios = start(bytes).map_err(CommandError::failed)?;
        print(&format!("{}\n", serde_json::to_string(&ratios).map_err(CommandError::failed)?))?;
        return Ok(Exit::Done);
    }
    let status = Status::new(&args.progress);
    let (before, clock) = (Ticks::now(), std::time::Instant::now());
    let processes = if args.quick { 60 } else { 300 };
    let mut sizes = Vec::new();
    for bytes in SIZES {
        let mut starts = Vec::with_capacity(processes);
        for number in 0..processes {
            let sentence = || format!("{bytes} bytes: process {} of {processes}", number + 1);
            status.now(sentence(), || json!({ "bytes": bytes, "process": number + 1, "processes": processes }));
            starts.push(child(bytes).map_err(CommandError::failed)?);
        }
        let outcome = aa::test(&starts, TRIALS, STARTS, 0xaa);
        let outcome = outcome.ok_or_else(|| CommandError::failed("the processes gave no ratios"))?;
        sizes.push(Size { bytes, processes, outcome });
    }
    drop(status);
    let machine = Machine::here(Isa::available().iter().map(|isa| isa.name())).since(before.as_ref());
    study::warn_if_slow(&args.progress, &machine);
    let report = Report { machine, seconds: clock.elapsed().as_secs_f64(), sizes };
    print(&match args.json {
        true => serde_json::to_string(&report).map_err(CommandError::failed)? + "\n",
        false => format!("{}\n\n{}", report.machine, table(&report).to_text()),
    })?;
    let [most, most_by_two] = aa::MOST;
    let good = |size: &Size| size.outcome.excludes <= most && size.outcome.excludes_by_two_per_cent <= most_by_two;
    if report.sizes.iter().all(good) {
        return Ok(Exit::Done);
    }
    let hint = "other programs or virtual machines use this computer too; compare only on a quiet machine";
    Err(CommandError::failed("intervals exclude the true ratio too often on this machine").hint(hint))
}

/// Runs one process and returns the ratios of its rounds.
fn child(bytes: usize) -> io::Result<Vec<f64>> {
    let words = ["measure", "aa", "--start", &bytes.to_string()];
    let out = Command::new(std::env::current_exe()?).args(words).stderr(Stdio::inherit()).output()?;
    if !out.status.success() {
        return Err(io::Error::other(format!("a process of the test failed: {}", out.status)));
    }
    Ok(serde_json::from_slice(&out.stdout)?)
}

/// Compares two copies of the same work in this process, and returns the ratios of the rounds.
fn start(bytes: usize) -> io::Result<Vec<f64>> {
    let seed = random::seed_of_process();
    let mut random = Random::new(seed);
    let [mut first, mut second] = [copy("a", bytes, &mut random)?, copy("b", bytes, &mut random)?];
    let meter = Meter::quick().rounds(12, 12).width(0.0).budget(Duration::from_millis(20)).seed(seed);
    let found = meter.compare(&mut [&mut *first, &mut *second], &mut |_| {})?;
    let samples = |name: &str| found.trial(name).map(|trial| trial.samples.clone()).unwrap_or_default();
    Ok(samples("a").iter().zip(samples("b")).map(|(a, b)| a / b).collect())
}

fn copy(name: &str, bytes: usize, random: &mut Random) -> io::Result<Box<dyn sealwright_measure::Candidate>> {
    let aead = Suite::Aes256Gcm.aead_at(Isa::best(), &[7; 32]).map_err(io::Error::other)?;
    let (mut text, mut number) = (Placed::new(bytes, 0x5a, random), 0_u64);
    let work = move || {
        number += 1;
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        let _ = std::hint::black_box(aead.seal_in_place(&nonce, &[], std::hint::black_box(&mut text)));
    };
    Ok(Box::new(Work::new(name, work).by_thread_cpu()))
}

fn table(report: &Report) -> Table {
    let columns = [
        Column::text("message"),
        Column::number("processes"),
        Column::number("excludes 1").unit("%"),
        Column::number("by more than 2 %").unit("%"),
        Column::number("if of one process").unit("%"),
        Column::number("width").unit("%"),
    ];
    let note = "A thousand tests of 10 random processes each. The fifth column is the share of intervals that would \
        exclude 1 if all samples were treated as samples of one process. Width: of the interval with median width, \
        relative to the median.";
    let mut table = Table::new("The same code twice", columns).with_note(note);
    for Size { bytes, processes, outcome } in &report.sizes {
        let share = |share: f64| Cell::number(100.0 * share, 1);
        table.row([
            Cell::text(format!("{bytes} B")),
            Cell::count(*processes as u64),
            share(outcome.excludes),
            share(outcome.excludes_by_two_per_cent),
            share(outcome.one_start[0]),
            share(outcome.width),
        ]);
    }
    table
}
