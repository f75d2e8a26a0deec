//! Sessions at a relay elsewhere, opened as any client opens its own.

use sealwright_session::Spec;

use crate::{
    client::{ClientError, Identity},
    load::{
        generator::Generator,
        keys::Keys,
        order::Order,
        run::{LoadError, Rig},
    },
    place::Place,
};

/// Opens sessions `0.x`, `1.x`, ... with an identity whose certificate and name are `*.x`, and connects to where their
/// frames go. The order's number of clients becomes that of those who take part: each worker of the relay has as many.
/// Also the scheme that the relay speaks.
///
/// # Errors
/// When the relay refuses, or connections fail.
pub fn remote(identity: &Identity, order: &mut Order) -> Result<(Rig, Spec), LoadError> {
    let Some(family) = identity.name.strip_prefix("*.") else {
        let why = format!("{}: a load needs the name of many clients, such as *.load.test", identity.name);
        return Err(ClientError::Config(why).into());
    };
    let mut clients = Vec::new();
    let mut told = None;
    // One handshake for as many as the relay answers on a connection
    for first in (0..order.clients).step_by(1000) {
        let names: Vec<String> =
            (first..order.clients.min(first + 1000)).map(|number| format!("{number}.{family}")).collect();
        for session in identity.open_many(&names)? {
            told = Some((session.frames, session.workers, session.spec));
            clients.push((session.client.session(), session.client));
        }
    }
    let Some((frames, workers, spec)) = told else { return Err(LoadError::NotIntroduced(0, 0)) };
    let place = clients.first().map_or(Place::new(0, 1), |&(session, _)| Place::of(session, workers));
    let keys = Keys::own(clients, place);
    if let Keys::Own { clients, .. } = &keys {
        order.clients = clients.len() as u32;
    }
    if order.clients == 0 {
        return Err(LoadError::TooFew(workers));
    }
    let generator = Generator::connect(frames, keys, order.clone())?;
    Ok((Rig { relay: None, generator, bytes_per_client: 0.0 }, spec))
}
