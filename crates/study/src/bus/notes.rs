//! Observations on the results and on the thesis.

use sealwright_measure::Verdict;
use sealwright_smp::scheme::THESIS_LATENCY;

use super::{
    grid::{Grid, Run, SYNCHRONISED_WITH},
    programs::{PROCESSORS, Suite},
    quantities::RECORDED,
    schemes::{Changed, Scheme, VARIANTS},
    seeds::seeds,
};
use crate::{judgement::Judged, study::Note};

pub(super) fn summary(grid: &Grid) -> String {
    let mean = |scheme| grid.mean(8, 64, false, scheme).unwrap_or(f64::NAN);
    let pair = |at: usize| {
        let variant = VARIANTS[at];
        (mean(Scheme::gcm(variant, THESIS_LATENCY)), mean(Scheme::cbc(variant, THESIS_LATENCY, 1)))
    };
    let (pipelined, iterative, equal, generous) = (pair(1), pair(2), pair(5), pair(6));
    format!(
        "With 8 processors and 320 cycles per line, GCM and CBC cost {:.1} and {:.1} % of the time with the \
         thesis's units if an AES engine can start a line every 80 cycles, {:.1} and {:.1} % if it processes one \
         line at a time, {:.1} and {:.1} % if both schemes have the same engines of this kind, and {:.1} and {:.1} \
         % with as many engines as needed. The thesis does not say which engine it assumes, and the result depends \
         on that. {:.0} M references were simulated in {:.0} s.",
        pipelined.0,
        pipelined.1,
        iterative.0,
        iterative.1,
        equal.0,
        equal.1,
        generous.0,
        generous.1,
        grid.references / 1e6,
        grid.seconds,
    )
}

/// Claims whose verdicts differ between kernels and recorded programs.
fn disagreements(claims: &[Judged]) -> String {
    let words = |verdict| match verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNotHold => "does not hold",
        Verdict::CannotBeTold => "cannot be told",
    };
    let differs = |claim: &Judged| {
        let with = claim.verdicts.iter().filter_map(|scoped| {
            let variant = scoped.scope.strip_suffix(RECORDED)?;
            let (recorded, kernels) = (claim.verdict(&scoped.scope)?, claim.verdict(variant)?);
            let told = format!("{variant}: {} for kernels, {} for recorded programs", words(kernels), words(recorded));
            (recorded != kernels).then_some(told)
        });
        let with: Vec<String> = with.collect();
        (!with.is_empty()).then(|| format!("“{}” ({})", claim.short, with.join("; ")))
    };
    let all: Vec<String> = claims.iter().filter_map(differs).collect();
    if all.is_empty() {
        "They agree on every claim.".to_owned()
    } else {
        format!("They disagree on {}.", all.join(", "))
    }
}

pub(super) fn notes(grid: &Grid, claims: &[Judged]) -> Vec<Note> {
    let lunc = |align| {
        let run = |processors| Run {
            program: 2,
            processors,
            line: 64,
            align,
            changed: Changed::Nothing,
            scheme: Scheme::Clear,
        };
        let rates = PROCESSORS.map(|processors| grid.at(run(processors)).map_or(f64::NAN, |found| found.rate));
        format!("{:.2}, {:.2} and {:.2}", rates[0], rates[1], rates[2])
    };
    let masks = |program, align| {
        let run = Run {
            program,
            processors: 8,
            line: 64,
            align,
            changed: Changed::Nothing,
            scheme: Scheme::cbc(VARIANTS[1], THESIS_LATENCY, 1),
        };
        grid.loss(run).unwrap_or(f64::NAN)
    };
    let both = |suite, changed| {
        let gcm = Scheme::gcm(SYNCHRONISED_WITH, THESIS_LATENCY);
        let losses = [gcm, Scheme::cbc(SYNCHRONISED_WITH, THESIS_LATENCY, 1)].map(|scheme| {
            let losses = grid.means_on(suite, 8, changed, scheme);
            losses.map_or(f64::NAN, |losses| losses.iter().sum::<f64>() / losses.len() as f64)
        });
        format!("{:.2} and {:.2}", losses[0], losses[1])
    };
    let (runs, alarms) = grid.quiet.values().fold((0, 0), |(runs, alarms), of| (runs + of.runs, alarms + of.alarms));
    let sizes = if grid.quick { "FFT 2^12, LU 80, RADIX 2^14" } else { "FFT 2^16, LU 256, RADIX 2^18" };
    vec![
        Note::new(
            "Programs and inputs",
            format!(
                "{sizes}: complete kernels that start with cold caches. The numerical result of every run is \
                 checked. The thesis does not name its inputs. Every run really encrypts and authenticates its \
                 lines: {runs} runs without an attacker gave {alarms} false alarms."
            ),
        ),
        Note::new(
            "Kernels and recorded programs",
            format!(
                "In kernels, few instructions separate two references. Recorded programs have their original \
                 instruction counts; their locks and condition variables make the simulated processors wait as \
                 well. {}",
                disagreements(claims),
            ),
        ),
        Note::new(
            "Synchronisation sends no lines",
            format!(
                "A lock, a barrier or a semaphore takes {} cycles a step, and sends nothing over the bus. That costs \
                 every scheme the same, so what CBC with a MAC on each line loses is a lower bound, and by less so is \
                 what the others lose. In a circumstance of its own, each object has a line that goes from cache to \
                 cache. With 8 processors, 320 cycles and {}, GCM and CBC then lose {} instead of {} % for kernels, \
                 and {} instead of {} % for recorded programs.",
                sealwright_smp::Config::default().machine.sync,
                SYNCHRONISED_WITH.name(),
                both(Suite::Kernels, Changed::SyncLines),
                both(Suite::Kernels, Changed::Nothing),
                both(Suite::Recorded, Changed::SyncLines),
                both(Suite::Recorded, Changed::Nothing),
            ),
        ),
        Note::new(
            "The protocol is GEMS's",
            format!(
                "The thesis lists MOSI_SMP_bcast among the protocols of its simulator and does not say which it used. \
                 In MOSI a read never brings the only copy, so every first store to a line that was read asks for it \
                 again. MESI has no owner of shared lines, so memory sends many that an owner sends in MOSI. In MOESI \
                 a node whose copy was the only one sends it to the next reader, so more lines go from cache to \
                 cache. MESI and MOESI are circumstances of their own. With 8 processors, 320 cycles and {}, GCM and \
                 CBC lose {} % with MOSI, {} % with MESI and {} % with MOESI.",
                SYNCHRONISED_WITH.name(),
                both(Suite::Kernels, Changed::Nothing),
                both(Suite::Kernels, Changed::Mesi),
                both(Suite::Kernels, Changed::Moesi),
            ),
        ),
        Note::new(
            "One mask to receive",
            "The thesis counts one mask to send and one to receive for each process. Where each sender has a chain of \
             its own, a receiver needs the next mask of each: it follows from the sender's previous line, which all \
             nodes see. That is charged here. A circumstance of its own has one mask to receive for all senders, \
             which must be computed again after each line, whoever sent it. It matters only if the MAC is in the \
             background.",
        ),
        Note::new(
            "Seeds and intervals",
            format!(
                "Runs on which claims depend were repeated with {} seeds, which change the inputs and the memory \
                 latency (158 to 162 cycles, as in GEMS). Each figure is the mean over the seeds with its 95 % \
                 interval; two schemes are compared seed by seed.",
                seeds(grid.quick),
            ),
        ),
        Note::new(
            "The result depends on the engine",
            "“320 cycles” is a latency. The thesis does not say how often the unit can start a line. Its sentence about five pads \
             within one latency fits a unit that starts one every cycle. Its figure in GB/s fits a unit that starts one every 80 \
             cycles (it differs by a factor of exactly four from 64 bytes in 320 cycles at 1 GHz). Counter mode can be pipelined; \
             the feedback of the masks cannot.",
        ),
        Note::new(
            "False sharing dominates the mean",
            format!(
                "LU in rows transfers {} lines per thousand cycles and processor (with 2, 4 and 8 processors) if \
                 its matrix is where malloc places it, and {} if the matrix begins at a page boundary. With 8 \
                 processors and 320 cycles, the masks cost LU {:.0} % and {:.0} %, and RADIX {:.0} %. Read the \
                 figures of each program; the mean over the programs depends mostly on such details.",
                lunc(false),
                lunc(true),
                masks(2, false),
                masks(2, true),
                masks(3, false),
            ),
        ),
        Note::new(
            "The IV of the thesis repeats",
            "A 96-bit counter and a 3-bit number make 99 bits, more than the 96-bit IV that GCM processes without \
             an extra hash. If the number is the sender's, and the sender's first counter is the same for every \
             peer (a possible reading of the thesis), the first lines from one node to two others have the same IV: \
             `smp run --faithful-iv` shows the first collision. With the receiver's number and a counter for each \
             pair, none repeats. The IV of this simulator contains source, destination, epoch and counter, and \
             every run checks that none repeats.",
        ),
        Note::new(
            "The CBC of the thesis is CFB",
            "C = P xor mask with mask = AES(C) is cipher feedback: a flipped bit in the ciphertext flips the same \
             bit in the plaintext. With one MAC for ten lines, up to ten such lines are used before the change is \
             detected. 128-bit public keys, if they are RSA keys as in the thesis's example, can be factored in \
             less than a second; here the units agree on keys with X25519.",
        ),
        Note::new(
            "“4X-9X” is a ratio of losses",
            "In figure 5.1, the loss of CBC divided by the loss of GCM is between 3.2 and 15.2. The programs themselves run 1.10 to \
             1.28 times as fast.",
        ),
    ]
}
