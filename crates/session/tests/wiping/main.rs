//! Searches memory for keys of sessions that ended while their table lives on. A child process admits clients, seals
//! and opens their packets, one by one and in batches, and removes them. This process reads the child's memory
//! (`/proc/PID/mem`) and searches it for their keys, which it computes itself from the same material and secret.
//!
//! Covers every scheme at every level, but only two of the GHASH tables. An environment variable tells a child its
//! case.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod search;

use std::{collections::HashSet, env, hint::black_box, process::ExitCode};

use sealwright::{Isa, mode::multi_key::Schedule};
use sealwright_session::{
    Client, FrameJob, Grant, Material, Plan, SchemeKind, Secret, Sessions, Side, Spec, Strategy, frame, table,
};
use search::{Stopping, fill, stop};

/// Set in a child: scheme and level, and which end it is.
const CHILD: &str = "SEALWRIGHT_SESSION_WIPING";
const SLOTS: u32 = 8;
/// Two clusters.
const CLUSTER: u32 = 4;
/// The slot that gets new keys, and those that are removed.
const RENEWED: u32 = 1;
const REMOVED: std::ops::Range<u32> = 0..CLUSTER;

/// The points at which a child stops, to be searched.
const STAGES: [&str; 4] = ["alive", "renewed", "removed", "revoked"];
/// The same of a client by itself.
const CLIENT_STAGES: [&str; 2] = ["alive", "dropped"];

fn main() -> ExitCode {
    if let Ok(case) = env::var(CHILD) {
        let [end, spec, isa] = case.split(' ').collect::<Vec<_>>()[..] else { panic!("{case}") };
        let run = if end == "client" { client } else { child };
        run(spec.parse().unwrap(), isa.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    let few = |x: Strategy| x.table_bytes() <= 256;
    let specs = Spec::all().into_iter().filter(|spec| spec.kind.strategy().is_none_or(few));
    let (mut cases, mut wrong) = (0, 0);
    for spec in specs.filter(|spec| spec.kind != SchemeKind::Clear) {
        for isa in Isa::available() {
            cases += 2;
            wrong += usize::from(!judge("table", spec, isa, &STAGES, &wanted(spec, isa)));
            let mut grants = end(spec, isa, Side::Server).1;
            let all: HashSet<_> = keys(spec, isa, &grants.swap_remove(0)).into_iter().flatten().collect();
            wrong += usize::from(!judge("client", spec, isa, &CLIENT_STAGES, &[all.clone(), all]));
        }
    }
    println!("wiping: {} of {cases} tables and clients keep nothing of sessions that ended", cases - wrong);
    ExitCode::from(u8::from(wrong > 0))
}

/// The material of a client: its first, or the one after it was `renewed`.
#[inline(never)]
fn material(slot: u32, renewed: bool) -> Material {
    let mut bytes = [0; Material::LEN];
    fill(&mut bytes, 1 + u64::from(slot) + if renewed { 1000 } else { 0 });
    let material = Material::from_bytes(&bytes);
    bytes.fill(0);
    black_box(&bytes);
    material
}

/// A table of one end, always with the same secret.
#[inline(never)]
fn end(spec: Spec, isa: Isa, side: Side) -> (Box<dyn Sessions>, Vec<Grant>) {
    let mut bytes = [0; 32];
    fill(&mut bytes, 500);
    let secret = Some(Secret::from_bytes(bytes));
    let mut table = table(Plan::new(spec, SLOTS).isa(isa).side(side).secret(secret).cluster(CLUSTER)).unwrap();
    let grants = (0..SLOTS).map(|slot| table.admit(slot, slot, &material(slot, false)).unwrap()).collect();
    (table, grants)
}

/// Unsealed frames of all clients, whose lengths cycle through these.
fn frames(lens: &[usize]) -> (Vec<u8>, Vec<FrameJob>) {
    let (mut buffer, mut jobs) = (Vec::new(), Vec::new());
    for slot in 0..4 * SLOTS {
        let start = buffer.len();
        buffer.resize(start + frame::HEADER + lens[slot as usize % lens.len()] + frame::TAG, 7);
        jobs.push(FrameJob::new(start..buffer.len(), slot % SLOTS, slot % SLOTS));
    }
    (buffer, jobs)
}

/// Packets of all clients both ways: short ones of one length, short ones of several lengths, and one by one.
#[inline(never)]
fn packets(here: &mut dyn Sessions, there: &mut dyn Sessions) {
    for lens in [&[40][..], &[500], &[300, 200], &[1500, 40, 3]] {
        let (mut buffer, mut jobs) = frames(lens);
        there.seal_all(&mut buffer, &mut jobs);
        here.open_all(&mut buffer, &mut jobs);
        assert!(jobs.iter().all(FrameJob::done));
        here.seal_all(&mut buffer, &mut jobs);
        assert!(jobs.iter().all(FrameJob::done));
    }
    let (mut buffer, jobs) = frames(&[100]);
    for job in &jobs {
        let frame = &mut buffer[job.start..job.end];
        there.seal(job.slot, job.slot, frame).unwrap();
        here.open(job.slot, frame).unwrap();
        here.seal(job.slot, job.slot, frame).unwrap();
    }
}

fn child(spec: Spec, isa: Isa) {
    let mut server = end(spec, isa, Side::Server).0;
    {
        let mut clients = end(spec, isa, Side::Client).0;
        packets(&mut *server, &mut *clients);
    }
    stop(STAGES[0]);
    server.admit(RENEWED, RENEWED, &material(RENEWED, true)).unwrap();
    stop(STAGES[1]);
    for slot in REMOVED {
        server.remove(slot);
    }
    stop(STAGES[2]);
    for slot in 0..SLOTS {
        server.revoke(slot);
    }
    stop(STAGES[3]);
    assert_eq!(server.live(), 0);
}

/// One client, whose table is gone.
fn client(spec: Spec, isa: Isa) {
    #[inline(never)]
    fn used(spec: Spec, isa: Isa) -> Box<Client> {
        let mut grants = end(spec, isa, Side::Server).1;
        let mut client = Box::new(Client::at(isa, grants.swap_remove(0)));
        for len in [40, 1500] {
            client.seal(0, &vec![7; len]).unwrap();
        }
        client
    }
    let client = used(spec, isa);
    stop(CLIENT_STAGES[0]);
    drop(client);
    stop(CLIENT_STAGES[1]);
}

/// A client's keys, its own and those that it shares, each with its round keys and its GHASH key.
fn keys(spec: Spec, isa: Isa, grant: &Grant) -> [HashSet<[u8; 16]>; 2] {
    let (mut own, mut shared) = (HashSet::new(), HashSet::new());
    for flow in grant.to_bytes()[8..].chunks_exact(76) {
        let main = Schedule::expand(isa, &flow[..spec.key_len()]).unwrap();
        let all = main.blocks().iter().copied().chain([main.hash_key(isa)]);
        if spec.clustered() {
            shared.extend(all);
            let [k1, k2] = [32, 48].map(|at| <[u8; 16]>::try_from(&flow[at..at + 16]).unwrap());
            own.extend([k1, k2]);
            if spec.kind == SchemeKind::GscmH {
                let last = main.blocks().len() - 1;
                own.insert(main.replaced(0, &k1).replaced(last, &k2).hash_key(isa));
            }
        } else {
            own.extend(all);
        }
    }
    [own, shared]
}

/// The keys to search for at each stop. At the first they must be found, at all others they must not.
fn wanted(spec: Spec, isa: Isa) -> [HashSet<[u8; 16]>; 4] {
    let keys: Vec<_> = end(spec, isa, Side::Server).1.iter().map(|grant| keys(spec, isa, grant)).collect();
    let own = |slots: &[[HashSet<_>; 2]]| slots.iter().flat_map(|[own, _]| own.iter().copied()).collect();
    let all = keys.iter().flatten().flatten().copied().collect();
    [own(&keys), own(&keys[RENEWED as usize..][..1]), own(&keys[..CLUSTER as usize]), all]
}

/// Runs a child. Returns whether its keys were found at the first stop and not at the others.
fn judge(end: &str, spec: Spec, isa: Isa, stages: &[&str], wanted: &[HashSet<[u8; 16]>]) -> bool {
    let mut child = Stopping::start(CHILD, &format!("{end} {spec} {isa}"));
    let mut good = true;
    for (stage, wanted) in stages.iter().zip(wanted) {
        let found = child.search_at(stage, wanted, &HashSet::new());
        let there = found.keys + found.stack > 0;
        // Keys derived per packet are found only where a packet happens to leave them, which is not guaranteed.
        let fine = if *stage == stages[0] { there || spec.kind == SchemeKind::GcmDerived } else { !there };
        if !fine {
            println!("{end}, {spec} at {isa}, {stage}: {found}: {:?}", found.places.iter().take(8).collect::<Vec<_>>());
        }
        good &= fine;
    }
    child.end();
    good
}
