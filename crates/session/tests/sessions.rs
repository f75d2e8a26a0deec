//! Every scheme at every level: what one end seals the other opens, once, and nothing else opens.
#![allow(clippy::unwrap_used)]

use sealwright::Isa;
use sealwright_session::{
    Client, FrameJob, Grant, Material, Plan, ReplayWindow, SchemeKind, Secret, SessionError, Sessions, Side, Spec,
    Strategy, frame, table,
};

/// Every scheme, but only two of the GHASH tables: the others differ in GHASH alone, which has its own tests.
fn specs() -> Vec<Spec> {
    let few = |x: Strategy| x.table_bytes() <= 256;
    Spec::all().into_iter().filter(|spec| spec.kind.strategy().is_none_or(few)).collect()
}

fn plan(spec: Spec, isa: Isa) -> Plan {
    Plan::new(spec, 40).isa(isa).cluster(8)
}

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + len) as u8).collect()
}

fn admit(table: &mut dyn Sessions, slot: u32) -> Client {
    let grant = table.admit(slot, 100 + slot, &Material::random().unwrap()).unwrap();
    let grant = Grant::from_bytes(&mut grant.to_bytes()).unwrap();
    Client::new(grant)
}

/// Without encryption there are no keys of either length: the scheme is the same one.
#[test]
fn every_scheme_and_length_has_a_name_and_a_number_in_grants() {
    for spec in specs() {
        for long in [false, true] {
            let (given, meant) = (Spec { long, ..spec }, Spec { long: long && spec.kind != SchemeKind::Clear, ..spec });
            assert!(Spec::all().contains(&meant));
            assert_eq!(given.to_string().parse(), Ok(meant));
            assert_eq!(given.key_len(), if meant.long { 32 } else { 16 });
            let mut relay = table(plan(given, Isa::best())).unwrap();
            assert_eq!(relay.spec(), meant);
            let grant = relay.admit(3, 103, &Material::random().unwrap()).unwrap();
            assert_eq!(Grant::from_bytes(&mut grant.to_bytes()).unwrap().spec(), meant);
            assert_eq!(format!("{relay:?}"), format!("Table {{ scheme: {meant}, slots: 40, live: 1, .. }}"));
        }
    }
}

#[test]
fn packets_go_both_ways_at_every_level() {
    for spec in specs() {
        for isa in Isa::available() {
            let mut relay = table(plan(spec, isa)).unwrap();
            let (mut alice, mut bob) = (admit(&mut *relay, 3), admit(&mut *relay, 21));
            for len in [0, 1, 11, 12, 13, 40, 300, 1500] {
                let data = data(len);
                let mut frame = alice.seal(121, &data).unwrap();
                assert_eq!(frame.len(), 36 + len);
                relay.open(3, &mut frame).unwrap();
                assert_eq!(frame::address(frame::payload(&frame)), Some((121, &data[..])), "{spec} {isa} {len}");
                relay.seal(21, 121, &mut frame).unwrap();
                if spec.kind != SchemeKind::Clear && len > 11 {
                    assert_ne!(frame::payload(&frame)[4..], data);
                }
                assert_eq!(bob.open(&mut frame), Ok((121, &data[..])), "{spec} {isa} {len}");
            }
        }
    }
}

#[test]
fn forged_replayed_and_cut_frames_are_refused() {
    for spec in specs() {
        for isa in Isa::available() {
            let mut relay = table(plan(spec, isa)).unwrap();
            let (mut alice, mut bob) = (admit(&mut *relay, 3), admit(&mut *relay, 4));
            let genuine = alice.seal(104, &data(50)).unwrap();
            for len in 0..genuine.len() {
                assert_eq!(relay.open(3, &mut genuine[..len].to_vec()), Err(SessionError::Short), "{spec} {len}");
            }
            let mut long = genuine.clone();
            long.push(0);
            assert_eq!(relay.open(3, &mut long), Err(SessionError::Short));
            assert_eq!(relay.open(3, &mut vec![0; frame::MAX_FRAME + 1]), Err(SessionError::Oversize));
            assert_eq!(relay.open(5, &mut genuine.clone()), Err(SessionError::Unknown));
            assert_eq!(relay.open(40, &mut genuine.clone()), Err(SessionError::Unknown));
            if spec.kind == SchemeKind::Clear {
                continue;
            }
            for bit in 0..8 * genuine.len() {
                let mut forged = genuine.clone();
                forged[bit / 8] ^= 1 << (bit % 8);
                let refused = relay.open(3, &mut forged).unwrap_err();
                match bit / 8 {
                    0 => assert_eq!(refused, SessionError::Malformed),
                    1 if bit % 8 >= 4 => assert_eq!(refused, SessionError::Malformed),
                    1 => assert_eq!(refused, SessionError::Stale),
                    2 | 3 => assert!(matches!(refused, SessionError::Short | SessionError::Malformed)),
                    4..=7 => assert_eq!(refused, SessionError::Forged),
                    8..=15 => {
                        assert!(matches!(refused, SessionError::Stale | SessionError::Forged | SessionError::Replayed))
                    }
                    _ => assert_eq!(refused, SessionError::Forged),
                }
                if refused == SessionError::Forged {
                    assert!(frame::payload(&forged).iter().all(|&byte| byte == 0), "{spec}: not wiped");
                }
            }
            assert_eq!(
                relay.open(4, &mut genuine.clone()).map_err(|refused| refused != SessionError::Replayed),
                Err(true)
            );
            relay.open(3, &mut genuine.clone()).unwrap();
            assert_eq!(relay.open(3, &mut genuine.clone()), Err(SessionError::Replayed));
            // Out of order within the window, and behind it.
            let mut later: Vec<_> = (0..200).map(|i| alice.seal(104, &data(i % 3)).unwrap()).collect();
            relay.open(3, &mut later[60].clone()).unwrap();
            for i in (10..60).rev() {
                relay.open(3, &mut later[i].clone()).unwrap();
                assert_eq!(relay.open(3, &mut later[i]), Err(SessionError::Replayed));
            }
            relay.open(3, &mut later[199].clone()).unwrap();
            assert_eq!(relay.open(3, &mut later[0]), Err(SessionError::Replayed));
            // The other way.
            let mut reply = frame::unsealed(103, &data(9));
            relay.seal(4, 104, &mut reply).unwrap();
            let mut forged = reply.clone();
            forged[20] ^= 1;
            assert_eq!(bob.open(&mut forged), Err(SessionError::Forged));
            assert_eq!(alice.open(&mut reply.clone()), Err(SessionError::Unknown));
            bob.open(&mut reply.clone()).unwrap();
            assert_eq!(bob.open(&mut reply), Err(SessionError::Replayed));
        }
    }
}

#[test]
fn a_wide_window_takes_the_last_1024_packets_once_in_any_order() {
    for spec in specs().into_iter().filter(|spec| spec.kind != SchemeKind::Clear) {
        let mut relay = table(plan(spec, Isa::best()).replay_window(ReplayWindow::Wide)).unwrap();
        assert_eq!(relay.memory().record, table(plan(spec, Isa::best())).unwrap().memory().record + 128);
        let mut alice = admit(&mut *relay, 3);
        // Singly and in batches, across readmissions
        for round in 0..4 {
            let mut frames: Vec<_> = (0..2048).map(|_| alice.seal(104, b"x").unwrap()).collect();
            for run in frames.chunks_mut(1024) {
                run.reverse();
            }
            if round % 2 == 0 {
                for frame in &frames {
                    assert_eq!(relay.open(3, &mut frame.clone()), Ok(()), "{spec}");
                    assert_eq!(relay.open(3, &mut frame.clone()), Err(SessionError::Replayed), "{spec}");
                }
            } else {
                let mut buffer = frames.concat();
                let len = frames[0].len();
                let mut jobs: Vec<_> = (0..2048).map(|i| FrameJob::new(i * len..(i + 1) * len, 3, 0)).collect();
                relay.open_all(&mut buffer.clone(), &mut jobs);
                assert!(jobs.iter().all(FrameJob::done), "{spec}");
                relay.open_all(&mut buffer, &mut jobs);
                assert!(jobs.iter().all(|job| job.outcome == Some(Err(SessionError::Replayed))), "{spec}");
            }
            if round == 1 {
                alice = admit(&mut *relay, 3);
            }
        }
    }
}

#[test]
fn new_keys_refuse_what_was_sealed_under_the_old() {
    for spec in specs() {
        let mut relay = table(plan(spec, Isa::best())).unwrap();
        let mut alice = admit(&mut *relay, 3);
        let mut old = alice.seal(1, b"old").unwrap();
        let mut anew = admit(&mut *relay, 3);
        assert_eq!(relay.live(), 1);
        assert_eq!(relay.open(3, &mut old.clone()), Err(SessionError::Stale));
        relay.open(3, &mut anew.seal(1, b"new").unwrap()).unwrap();
        relay.remove(3);
        assert_eq!((relay.live(), relay.blocks_left(3)), (0, None));
        assert_eq!(relay.open(3, &mut anew.seal(1, b"gone").unwrap()), Err(SessionError::Unknown));
        assert_eq!(relay.seal(3, 103, &mut frame::unsealed(1, b"gone")), Err(SessionError::Unknown));
        // After 16 epochs the phase repeats; the keys do not.
        for _ in 0..15 {
            anew = admit(&mut *relay, 3);
        }
        let refused = relay.open(3, &mut old).unwrap_err();
        assert!(
            spec.kind == SchemeKind::Clear || matches!(refused, SessionError::Forged | SessionError::Stale),
            "{spec} {refused}"
        );
        relay.open(3, &mut anew.seal(1, b"new").unwrap()).unwrap();
    }
}

#[test]
fn a_table_of_clients_is_the_other_end_of_a_table_of_a_server() {
    for spec in specs() {
        let secret = Some(Secret::from_bytes([7; 32]));
        let server = plan(spec, Isa::best()).secret(secret.clone());
        let mut relay = table(server.clone()).unwrap();
        let mut clients = table(server.side(Side::Client)).unwrap();
        for slot in 0..40 {
            let material = Material::from_bytes(&[slot as u8; Material::LEN]);
            relay.admit(slot, slot, &material).unwrap();
            clients.admit(slot, slot, &material).unwrap();
        }
        for slot in 0..40 {
            let mut frame = frame::unsealed(1, &data(40));
            clients.seal(slot, slot, &mut frame).unwrap();
            relay.open(slot, &mut frame).unwrap();
            relay.seal(slot, slot, &mut frame).unwrap();
            clients.open(slot, &mut frame).unwrap();
            assert_eq!(frame::payload(&frame)[4..], data(40));
        }
    }
}

#[test]
fn revoking_a_client_gives_its_cluster_new_keys() {
    for spec in specs().into_iter().filter(|spec| spec.clustered() && !spec.long) {
        let mut relay = table(plan(spec, Isa::best())).unwrap();
        let mut clients: Vec<_> = (0..20).map(|slot| admit(&mut *relay, slot)).collect();
        let mut before = clients[9].seal(1, b"before").unwrap();
        // Clusters of eight: 8 to 15 are together.
        assert_eq!(relay.revoke(10), [8, 9, 11, 12, 13, 14, 15]);
        assert_eq!(relay.live(), 12);
        assert_eq!(relay.open(9, &mut before), Err(SessionError::Unknown));
        relay.open(7, &mut clients[7].seal(1, b"elsewhere").unwrap()).unwrap();
        let mut nine = admit(&mut *relay, 9);
        assert_eq!(relay.open(9, &mut before), Err(SessionError::Stale));
        relay.open(9, &mut nine.seal(1, b"after").unwrap()).unwrap();
    }
    let mut alone = table(plan("gcm-on64".parse().unwrap(), Isa::best())).unwrap();
    admit(&mut *alone, 3);
    assert!(alone.revoke(3).is_empty());
    assert_eq!(alone.live(), 0);
}

#[test]
fn names_are_read_as_they_are_written() {
    for spec in Spec::all() {
        assert_eq!(spec.to_string().parse(), Ok(spec));
    }
    assert_eq!("gcm-pre-256".parse::<Spec>().unwrap().to_string(), "gcm-pre(clmul)-256");
    assert!("gcm-pre(5k)".parse::<Spec>().is_err());
}

#[test]
fn a_slot_that_is_not_there_takes_no_cluster_along() {
    // The last cluster has slots 16 to 23, of which there are four.
    let mut relay = table(Plan::new("gscm-h".parse().unwrap(), 20).cluster(8)).unwrap();
    let mut client = admit(&mut *relay, 17);
    for slot in [20, 22, 24, u32::MAX] {
        assert_eq!(relay.revoke(slot), [0; 0], "{slot}");
    }
    relay.open(17, &mut client.seal(3, b"still here").unwrap()).unwrap();
}

#[test]
fn clients_of_a_great_cluster_have_fewer_blocks_each() {
    let left = |scheme: &str, cluster, slots| {
        let mut relay = table(Plan::new(scheme.parse().unwrap(), slots).cluster(cluster)).unwrap();
        admit(&mut *relay, 5);
        let fresh = relay.blocks_left(5).unwrap();
        let mut frame = frame::unsealed(0, &[0; 12]);
        relay.seal(5, 5, &mut frame).unwrap();
        assert_eq!(relay.blocks_left(5), Some(fresh - 2), "{scheme}");
        fresh
    };
    assert_eq!(left("gscm-h", Plan::CLUSTER, 1 << 17), u64::from(u32::MAX));
    assert_eq!(left("gscm-h", u32::MAX, 1 << 17), 1 << 31);
    assert_eq!(left("gscm-h", u32::MAX, 20), u64::from(u32::MAX), "a cluster has no more clients than slots");
    assert_eq!(left("gcm-on64", u32::MAX, 1 << 17), u64::from(u32::MAX), "nothing is shared");
}

#[test]
fn a_payload_without_an_address_is_not_handed_out() {
    for spec in specs() {
        let mut relay = table(plan(spec, Isa::best())).unwrap();
        let mut client = admit(&mut *relay, 3);
        for len in 0..frame::ADDRESS {
            let mut short = vec![7; frame::HEADER + len + frame::TAG];
            relay.seal(3, 103, &mut short).unwrap();
            assert_eq!(client.open(&mut short), Err(SessionError::Short), "{spec}");
            assert_eq!(frame::payload(&short), vec![0; len], "{spec}");
        }
    }
}
