//! The coherence protocols: MOSI's table, and the differences of MESI and MOESI.
//!
//! Both add the state E: the only copy of an unmodified line, which its node may write without a request. A read
//! request gets E if no other node has a copy, or will have one, at its position in the order of the bus. MESI has no
//! owner of shared lines: a node that has a modified or exclusive line and sees a read request sends the line, and
//! memory takes it from the bus.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::mosi::{
    self,
    Action::{self, Drop, Finish, Forward, ForwardBack, Hit, Once, Putx, Record, Recycle, Send, SendBack},
    EVENTS, Event, STATES,
    State::{self, *},
    Transition,
};

/// A protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// As in GEMS (MOSI_SMP_bcast), which the thesis lists among several and does not say that it used.
    #[default]
    Mosi,
    /// Exclusive lines, no owners of shared ones.
    Mesi,
    /// Exclusive lines and owners of shared ones.
    Moesi,
}

/// A cell that differs from MOSI's.
type Cell = (State, Event, &'static [Action], State);

/// A row in which nothing happens: accesses are retried, and other nodes' commands are ignored.
const fn waits(state: State) -> [Cell; 6] {
    [
        (state, Event::Load, &[Recycle], state),
        (state, Event::Store, &[Recycle], state),
        (state, Event::Replace, &[Recycle], state),
        (state, Event::OtherGets, &[], state),
        (state, Event::OtherGetx, &[], state),
        (state, Event::OtherPutx, &[], state),
    ]
}

/// The cells of MESI and MOESI: state E, and a line in flight that will be E.
const EXCLUSIVE: [Cell; 11] = [
    (IS_AD, Event::OwnGetsAlone, &[], IE_D),
    (E, Event::Load, &[Hit], E),
    (E, Event::Store, &[Hit], M),
    // Memory has this node as the owner: a clean line is written back like a modified one, but without its bytes
    (E, Event::Replace, &[Putx], MI_A),
    (E, Event::OtherGetx, &[Send, Drop], I),
    (E, Event::OtherPutx, &[], E),
    (IE_D, Event::OtherGetx, &[Record], IE_D_I),
    (IE_D, Event::Data, &[Finish], E),
    (IE_D_I, Event::Data, &[Once, Forward], I),
    (IE_D_OI, Event::Data, &[Once, Forward], I),
    (IE_D_SI, Event::Data, &[Once, Forward], I),
];

const MOESI: [Cell; 5] = [
    (E, Event::OtherGets, &[Send], O),
    (IE_D, Event::OtherGets, &[Record], IE_D_O),
    (IE_D_O, Event::OtherGets, &[Record], IE_D_O),
    (IE_D_O, Event::OtherGetx, &[Record], IE_D_OI),
    (IE_D_O, Event::Data, &[Finish, Forward], O),
];

const MESI: [Cell; 12] = [
    (E, Event::OtherGets, &[SendBack], S),
    (M, Event::OtherGets, &[SendBack], S),
    // The node is no longer the owner when its write-back is ordered: memory ignores it
    (MI_A, Event::OtherGets, &[SendBack], II_A),
    (IE_D, Event::OtherGets, &[Record], IE_D_S),
    (IE_D_S, Event::OtherGets, &[Record], IE_D_S),
    (IE_D_S, Event::OtherGetx, &[Record], IE_D_SI),
    (IE_D_S, Event::Data, &[Finish, ForwardBack], S),
    (IM_D, Event::OtherGets, &[Record], IM_D_S),
    (SM_D, Event::OtherGets, &[Record], IM_D_S),
    (IM_D_S, Event::OtherGets, &[Record], IM_D_S),
    (IM_D_S, Event::OtherGetx, &[Record], IM_D_SI),
    (IM_D_S, Event::Data, &[Finish, ForwardBack], S),
];

/// `IM_D_SI` is like `IE_D_SI`, after a store.
const MESI_STORE: [Cell; 1] = [(IM_D_SI, Event::Data, &[Once, Forward], I)];

type Table = [[Option<Transition>; EVENTS]; STATES];

static TABLES: LazyLock<[Table; 3]> =
    LazyLock::new(|| [Protocol::Mosi, Protocol::Mesi, Protocol::Moesi].map(Protocol::table));

impl Protocol {
    /// Every protocol.
    pub const ALL: [Protocol; 3] = [Protocol::Mosi, Protocol::Mesi, Protocol::Moesi];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Mosi => "mosi",
            Protocol::Mesi => "mesi",
            Protocol::Moesi => "moesi",
        }
    }

    /// Whether the protocol has the state E (exclusive, unmodified).
    pub fn has_exclusive(self) -> bool {
        self != Protocol::Mosi
    }

    /// The states that a line can be in.
    pub fn states(self) -> Vec<State> {
        let own: &[State] = match self {
            Protocol::Mosi => &[],
            Protocol::Mesi => &[E, IE_D, IE_D_I, IE_D_S, IE_D_SI, IM_D_S, IM_D_SI],
            Protocol::Moesi => &[E, IE_D, IE_D_I, IE_D_O, IE_D_OI],
        };
        // Without owners of shared lines, these are never reached
        let owners = [O, IM_D_O, IM_D_OI, SM_D_O, OM_A, OI_A];
        let base = State::all().filter(|state| self != Protocol::Mesi || !owners.contains(state));
        base.chain(own.iter().copied()).collect()
    }

    /// The cell of `state` and `event`, or `None` where the protocol has none.
    pub fn transition(self, state: State, event: Event) -> Option<Transition> {
        TABLES[self as usize][state as usize][event as usize]
    }

    fn table(self) -> Table {
        let mut table: Table = [[None; EVENTS]; STATES];
        for state in State::all() {
            for event in Event::ALL {
                table[state as usize][event as usize] = mosi::transition(state, event);
            }
        }
        let mut put = |(state, event, actions, next): Cell| {
            table[state as usize][event as usize] = Some(Transition { actions, next });
        };
        if self.has_exclusive() {
            let own = self.states().into_iter().filter(|state| *state != E && mosi_has_not(*state));
            own.flat_map(waits).for_each(&mut put);
            EXCLUSIVE.into_iter().for_each(&mut put);
        }
        match self {
            Protocol::Mosi => {}
            Protocol::Mesi => MESI.into_iter().chain(MESI_STORE).for_each(put),
            Protocol::Moesi => MOESI.into_iter().for_each(put),
        }
        table
    }
}

fn mosi_has_not(state: State) -> bool {
    State::all().all(|other| other != state)
}

/// Whether a node in `state` has a copy of the line, or will have one through a command that is ordered already.
pub(crate) fn has_copy(state: State) -> bool {
    !matches!(state, I | IS_AD | IM_AD | II_A)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn states_lead_only_to_states_of_the_same_protocol() {
        for protocol in Protocol::ALL {
            let states = protocol.states();
            for (state, event) in states.iter().flat_map(|state| Event::ALL.map(|event| (*state, event))) {
                let Some(cell) = protocol.transition(state, event) else { continue };
                assert!(states.contains(&cell.next), "{protocol:?} {state:?} {event:?} leads to {:?}", cell.next);
                if matches!(event, Event::OtherGets | Event::OtherGetx) && state.owns() {
                    let sends = cell.actions.contains(&Send) || cell.actions.contains(&SendBack);
                    assert!(sends, "{protocol:?}: an owner in {state:?} ignores {event:?}");
                }
            }
        }
    }
}
