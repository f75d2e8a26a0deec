//! `sealwright-lab bench`: how fast this machine seals and opens, compared with other libraries.

use std::process::{Command, Stdio};

use clap::Args;
use sealwright_study::bench::{Options, Report, Row, Subject, Way, run as measure};
use sealwright_terminal::{
    CommandError, Exit, ProgressArgs, print, print_or_leave, say,
    size::{self, Size},
};
use serde_json::json;

use crate::{status::Status, study};

const EXAMPLES: &str = "\
Before the measurement, all implementations must produce identical bytes. Figures are medians with 95 %
intervals, in GB (10^9 bytes) of plaintext per second on one core. SEALWRIGHT_ISA=avx2 (or sse, portable)
excludes higher instruction-set levels. C libraries are included if they are installed.

Suites: those for files; aes-128-cbc-hmac, aes-256-cbc-hmac, aes-128-gcm-siv, aes-256-gcm-siv, xaes-256-gcm,
gscm-h-128, gscm-h-256; tls13-aes-256-gcm (rustls records of at most 16 KiB, with each crypto provider); and
without tags aes-128-cbc, aes-256-cbc, serpent-256-ctr. Broken modes from papers are measured only if named:
gscm-128, gscm-256, rkc, rkc-hmac. CBC and RKC process whole blocks of 16 bytes and skip other sizes.

Values of --way; all but the first measure sealing only:
    one-key       messages one after the other, under one key
    waiting       the same, but each message starts when the tag of the previous one is known
    many-keys     under a thousand keys in turn
    new-key       a new key for each message; its setup is included in the time
    batch         the same, 32 messages at a time; AES-GCM here processes them in parallel
    side-by-side  16 messages at a time under one key, which lets CBC process them in parallel

Speed depends on the addresses of code and buffers, which stay the same while a process runs. --starts 10
measures everything in ten processes and treats each process as one sample.

Example:
    sealwright-lab bench --quick --suite aes-256-gcm --bytes 1500,16KiB";

/// Measure the speed of Sealwright and of other libraries
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// Measure only this suite; can be repeated [default: all except those for research only]
    #[arg(long, value_name = "SUITE")]
    suite: Vec<Subject>,
    /// Message sizes in bytes [default: 40,64,256,576,1500,4096,16KiB,1MiB]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = size::parse)]
    bytes: Vec<Size>,
    /// Keys and order of messages: one-key, waiting, many-keys, new-key, batch or side-by-side [default: one-key]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',')]
    way: Vec<Way>,
    /// Measure for half a minute instead of several minutes; intervals are wider
    #[arg(long)]
    quick: bool,
    /// Measure everything in N processes, one after the other, and compute intervals over the processes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    starts: u32,
    /// Print one line of JSON for each result as soon as it is known (with --starts: when all are known)
    #[arg(long)]
    json: bool,
    /// Internal: run as one of the processes of --starts, and print the whole report as JSON
    #[arg(long, hide = true)]
    whole: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// Measures and prints.
pub(crate) fn run(args: &BenchArgs) -> Result<Exit, CommandError> {
    let commit = env!("SEALWRIGHT_COMMIT").to_owned();
    let mut options = Options { quick: args.quick, commit, ..Options::default() };
    if !args.suite.is_empty() {
        options.subjects.clone_from(&args.suite);
    }
    if !args.bytes.is_empty() {
        let bytes = args.bytes.iter().map(|size| usize::try_from(size.0));
        options.bytes =
            bytes.collect::<Result<_, _>>().map_err(|_| CommandError::usage("too many bytes for this machine"))?;
    }
    if !args.way.is_empty() {
        options.ways.clone_from(&args.way);
    }
    if !args.whole {
        options.check().map_err(CommandError::usage)?;
        let skipped = options.skipped();
        let named = !args.suite.is_empty() || !args.bytes.is_empty() || !args.way.is_empty();
        if options.comparisons() == 0 {
            return Err(CommandError::usage("nothing is left to measure").hints(skipped));
        }
        if named && !args.progress.quiet {
            skipped.iter().for_each(|what| say(format_args!("sealwright-lab: skipped: {what}")));
        }
    }
    if args.starts > 1 {
        return of_starts(args);
    }
    let status = Status::new(&args.progress);
    status.now("checking that all implementations agree".into(), || json!({ "now": "agreement" }));
    let mut unwritten = Ok(());
    let mut on_row = |row: &Row| {
        let sentence = || {
            format!("{} {} B, {} {}: {} {:.2} GB/s", row.suite, row.bytes, row.way, row.direction, row.who(), row.gbps)
        };
        if args.json {
            let line = serde_json::to_string(row).expect("a row is strings and finite numbers");
            unwritten = std::mem::replace(&mut unwritten, Ok(())).and_then(|()| print_or_leave(&format!("{line}\n")));
        } else if !args.whole {
            status.now(sentence(), || json!({ "now": sentence() }));
        }
    };
    let report = measure(&options, &mut on_row).map_err(CommandError::failed)?;
    drop(status);
    unwritten?;
    study::warn_if_slow(&args.progress, &report.machine);
    if args.whole {
        print(&serde_json::to_string(&report).map_err(CommandError::failed)?)?;
    } else if !args.json {
        print(&study::bench_as_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Measures in several processes, and prints figures with intervals over these processes.
fn of_starts(args: &BenchArgs) -> Result<Exit, CommandError> {
    let status = Status::new(&args.progress);
    let mut reports = Vec::new();
    for start in 1..=args.starts {
        let sentence = || format!("process {start} of {}", args.starts);
        status.now(sentence(), || json!({ "process": start, "processes": args.starts }));
        reports.push(process(args)?);
    }
    drop(status);
    let Some(report) = Report::of_starts(&reports) else { return Ok(Exit::Done) };
    study::warn_if_slow(&args.progress, &report.machine);
    if args.json {
        let line = |row: &Row| serde_json::to_string(row).expect("a row is strings and finite numbers") + "\n";
        print(&report.rows.iter().map(line).collect::<String>())?;
    } else {
        print(&study::bench_as_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Runs one process and returns its report.
fn process(args: &BenchArgs) -> Result<Report, CommandError> {
    let mut command = Command::new(std::env::current_exe().map_err(CommandError::failed)?);
    command.args(["bench", "--whole", "-q"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.args(args.suite.iter().flat_map(|suite| ["--suite", suite.name()]));
    command.args(args.way.iter().flat_map(|way| ["--way", way.name()]));
    for size in &args.bytes {
        command.args(["--bytes", &size.0.to_string()]);
    }
    command.args(args.quick.then_some("--quick"));
    let out = command.output().map_err(CommandError::failed)?;
    if !out.status.success() {
        return Err(CommandError::failed(format_args!("a process of the bench failed: {}", out.status)));
    }
    serde_json::from_slice(&out.stdout).map_err(CommandError::failed)
}
