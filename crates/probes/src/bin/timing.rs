//! Measures whether the times of any mode depend on secrets, and prints the results: `timing SAMPLES [LEVEL]`, at every
//! level unless one is named. Exits with 1 if a time depends on a secret; with 4 if the machine was too busy to tell.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use sealwright::Isa;
use sealwright_probes::{
    dudect::{Answer, LIMIT, Question, REPEATS, ask, needed, nothing, of_subject, planted},
    subjects::SUBJECTS,
};

/// Each measurement has this many times the samples that the planted leak needed.
const MORE: usize = 2;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(least) = words.next().and_then(|samples| samples.parse().ok()).filter(|samples| *samples >= 100) else {
        eprintln!("timing: how many samples?\nhint: timing 4000 [LEVEL]; at least 100");
        return ExitCode::from(2);
    };
    let levels = match words.next().map(|level| level.parse::<Isa>()) {
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
        for subject in SUBJECTS {
            let tag = (subject.make)(isa, &vec![1; subject.key_len]).tag_len();
            for question in Question::all(tag) {
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
                    Answer::Differs { t, samples } => {
                        differ += 1;
                        format!("t = {t:.1} in each of three runs, of up to {samples} samples: DIFFERS")
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
