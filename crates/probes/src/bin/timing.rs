//! Measures whether the times of any mode depend on secrets, and prints the results: `timing SAMPLES [LEVEL]`, at every
//! level unless one is named. Exits with 1 if a time depends on a secret; with 4 if the machine was too busy to tell.
//!
//! A difference must be seen in two more processes, which are this program with the numbers of a mode and a comparison
//! (`timing SAMPLES LEVEL MODE COMPARISON` prints Welch's t alone). Where memory lies is drawn anew in each process, and
//! decides tenths of a nanosecond, now in this direction, now in that one.
#![allow(clippy::print_stdout)]

use std::process::{Command, ExitCode};

use sealwright::Isa;
use sealwright_probes::{
    dudect::{Answer, LIMIT, Question, REPEATS, ask, needed, nothing, of_subject, planted},
    subjects::{SUBJECTS, Subject},
};

/// Each measurement has this many times the samples that the planted leak needed.
const MORE: usize = 2;

fn questions(isa: Isa, subject: &Subject) -> Vec<Question> {
    Question::all((subject.make)(isa, &vec![1; subject.key_len]).tag_len())
}

/// Prints Welch's t of one comparison.
fn one(samples: usize, level: &str, mode: &str, comparison: &str) -> ExitCode {
    let subject = mode.parse().ok().and_then(|mode: usize| SUBJECTS.get(mode));
    let Some((isa, subject)) = level.parse::<Isa>().ok().zip(subject) else { return ExitCode::from(2) };
    let question = comparison.parse().ok().and_then(|number: usize| questions(isa, subject).get(number).copied());
    let Some(question) = question else { return ExitCode::from(2) };
    let (Answer::Same { t, .. } | Answer::Differs { t, .. } | Answer::Undecided { t }) =
        ask(samples, |samples, repeats| of_subject(isa, subject, question, samples, repeats));
    println!("{t}");
    ExitCode::SUCCESS
}

/// Welch's t of one comparison in another process; not a number if that fails.
fn elsewhere(samples: usize, isa: Isa, mode: usize, comparison: usize) -> f64 {
    let program = std::env::current_exe();
    let words = [samples.to_string(), isa.name().to_owned(), mode.to_string(), comparison.to_string()];
    let run = program.and_then(|program| Command::new(program).args(words).output()).ok();
    run.and_then(|run| String::from_utf8_lossy(&run.stdout).trim().parse().ok()).unwrap_or(f64::NAN)
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(least) = words.next().and_then(|samples| samples.parse().ok()).filter(|samples| *samples >= 100) else {
        eprintln!("timing: how many samples?\nhint: timing 4000 [LEVEL]; at least 100");
        return ExitCode::from(2);
    };
    let words: Vec<String> = words.collect();
    if let [level, mode, comparison] = &words[..] {
        return one(least, level, mode, comparison);
    }
    let levels = match words.first().map(|level| level.parse::<Isa>()) {
        None => Isa::available(),
        Some(Ok(level)) => vec![level],
        Some(Err(error)) => {
            eprintln!("timing: {error}");
            return ExitCode::from(2);
        }
    };
    let (mut differ, mut undecided, mut same, mut most) = (0, 0, 0, 0.0_f64);
    let mut samples_of_all = (usize::MAX, 0);
    for isa in levels {
        // AES-128-GCM is the fastest: the comparison has the largest share of its time.
        let Some((samples, t)) = needed(least, 64 * least, |samples| planted(isa, &SUBJECTS[0], samples, 1)) else {
            println!("{:8} planted: a comparison that ends early: not seen UNDECIDED", isa.name());
            undecided += 1;
            continue;
        };
        let repeated = planted(isa, &SUBJECTS[0], samples, REPEATS);
        println!(
            "{:8} planted: a comparison that ends early: t = {t:.1} after {samples} samples, {repeated:.1} if repeated",
            isa.name()
        );
        if repeated.abs() <= LIMIT {
            println!("{:8} it is not seen if repeated: UNDECIDED", isa.name());
            undecided += 1;
            continue;
        }
        let samples = MORE * samples;
        let t = nothing(isa, &SUBJECTS[0], samples);
        if t.abs() > LIMIT {
            println!("{:8} where nothing differs t is {t:.1}: UNDECIDED", isa.name());
            undecided += 1;
            continue;
        }
        samples_of_all = (samples_of_all.0.min(samples), samples_of_all.1.max(samples));
        for (mode, subject) in SUBJECTS.iter().enumerate() {
            for (comparison, question) in questions(isa, subject).into_iter().enumerate() {
                let answer = ask(samples, |samples, repeats| of_subject(isa, subject, question, samples, repeats));
                let what = match answer {
                    Answer::Same { t, .. } => {
                        same += 1;
                        most = most.max(t.abs());
                        format!("t = {t:.1}")
                    }
                    Answer::Undecided { t } => {
                        undecided += 1;
                        format!("at times apart, then t = {t:.1}: UNDECIDED")
                    }
                    Answer::Differs { t, samples: all } => {
                        let others = [(); 2].map(|()| elsewhere(samples, isa, mode, comparison));
                        let [a, b] = others;
                        let told = format!("t = {t:.1} with {all} samples, in other processes {a:.1} and {b:.1}");
                        if others.iter().all(|other| other.abs() > LIMIT && other.signum() == t.signum()) {
                            differ += 1;
                            format!("{told}: DIFFERS")
                        } else if others.iter().any(|other| other.is_nan()) {
                            undecided += 1;
                            format!("{told}: UNDECIDED")
                        } else {
                            same += 1;
                            format!("{told}: of where memory lies")
                        }
                    }
                };
                println!("{:8} {:24} {:36} {what}", isa.name(), subject.name, question.name());
            }
        }
    }
    println!(
        "{differ} differ, {undecided} undecided, {same} not told apart (t up to {most:.1}, limit {LIMIT}), {} to {} samples each",
        samples_of_all.0.min(samples_of_all.1),
        samples_of_all.1
    );
    match (differ, undecided) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(4),
        _ => ExitCode::FAILURE,
    }
}
