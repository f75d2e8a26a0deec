//! A load on a relay that runs elsewhere; sessions are opened in the same way as by any other client.

use sealwright_relay::{NodeLayout, client::Identity};
use sealwright_session::Spec;

use crate::{
    generator::Generator,
    keys::Keys,
    measure::{LoadError, Testbed},
    workload::Workload,
};

/// Opens sessions `0.x`, `1.x`, ... with an identity whose certificate and name are `*.x`, and connects to the relay.
/// Every shard of the relay gets the same number of clients; `workload.clients` becomes the number of clients that take
/// part. Also returns the scheme that the relay uses.
///
/// # Errors
/// When the relay refuses, or connections fail.
pub fn remote(identity: &Identity, workload: &mut Workload) -> Result<(Testbed, Spec), LoadError> {
    let Some(family) = identity.name.strip_prefix("*.") else {
        return Err(LoadError::OneClient(identity.name.clone()));
    };
    let mut clients = Vec::new();
    let mut opened = None;
    // One connection opens at most as many sessions as a relay allows on it (1000)
    for first in (0..workload.clients).step_by(1000) {
        let names: Vec<String> =
            (first..workload.clients.min(first + 1000)).map(|number| format!("{number}.{family}")).collect();
        for session in identity.open_many(&names)? {
            opened = Some((session.frames, session.workers, session.spec));
            clients.push((session.address, session.client));
        }
    }
    let Some((frames, workers, spec)) = opened else { return Err(LoadError::NotBound(0, 0)) };
    let layout = clients.first().map_or(NodeLayout::new(0, 1), |(address, _)| NodeLayout::of(address.session, workers));
    let keys = Keys::opened(clients, layout);
    if let Keys::Opened { clients, .. } = &keys {
        workload.clients = clients.len() as u32;
    }
    if workload.clients == 0 {
        return Err(LoadError::TooFew(workers));
    }
    let generator = Generator::connect(frames, keys, workload.clone())?;
    Ok((Testbed { relay: None, generator, bytes_per_session: 0.0 }, spec))
}
