//! The coherence protocol as one table: MOSI snooping as in GEMS (MOSI_SMP_bcast), with 22 of its 23 states.
//!
//! A row is a state, a column an event, and a cell the actions and the next state. The protocol is defined only here;
//! the machine looks it up. In the names of states, `A` means waiting for the node's own request to be ordered on the
//! address bus, and `D` waiting for data; what follows a second underscore must be done when the data has arrived.

/// State of a line in one node. The four stable states come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "named by the scheme that the module's text gives")]
#[allow(non_camel_case_types, reason = "as the literature writes them")]
pub enum State {
    I,
    S,
    O,
    M,
    IS_AD,
    IS_A,
    IS_D,
    IS_D_I,
    IM_AD,
    IM_A,
    IM_D,
    IM_D_O,
    IM_D_I,
    IM_D_OI,
    SM_AD,
    SM_A,
    SM_D,
    SM_D_O,
    OM_A,
    MI_A,
    OI_A,
    II_A,
    // MESI and MOESI only: the only copy, unmodified; and in flight (`IE`), with what is to be done on arrival
    E,
    IE_D,
    IE_D_I,
    IE_D_O,
    IE_D_OI,
    IE_D_S,
    IE_D_SI,
    IM_D_S,
    IM_D_SI,
}

/// Number of states of all protocols. GEMS has one more in MOSI, "not present", which is I here.
pub const STATES: usize = 31;

/// The states of this table.
const MOSI_STATES: usize = 22;

/// Events for a line in one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Event {
    /// The processor reads or fetches.
    Load,
    /// The processor writes.
    Store,
    /// The second-level cache needs the line's place.
    Replace,
    /// Its own request to read is ordered on the address bus.
    OwnGets,
    /// Its own request to write is ordered.
    OwnGetx,
    /// Its own write-back is ordered.
    OwnPutx,
    /// Another node's request to read is ordered.
    OtherGets,
    /// Another node's request to write is ordered.
    OtherGetx,
    /// Another node's write-back is ordered.
    OtherPutx,
    /// The line arrives.
    Data,
    /// Its own request to read is ordered, and no other node has a copy or will have one.
    OwnGetsAlone,
}

/// Number of events of all protocols.
pub const EVENTS: usize = 11;

/// The events of this table.
const MOSI_EVENTS: usize = 10;

/// The actions of a node in a cell of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The processor's access succeeds on the line that is there.
    Hit,
    /// Request the line for reading.
    Gets,
    /// Request the line for writing.
    Getx,
    /// Write the line back; it moves to the write-back buffer.
    Putx,
    /// Give up the line's place.
    Drop,
    /// Give up the line's place; the request's register keeps the line, and this node still answers requests for it.
    Keep,
    /// Send the line to the requestor, from the cache or the write-back buffer: a cache-to-cache transfer.
    Send,
    /// Remember the requester: it is sent the line when that has arrived.
    Record,
    /// Keep the data that came before the own request was ordered.
    Save,
    /// The access succeeds on the data saved or just arrived.
    Finish,
    /// The access succeeds on the data that arrived, which is not kept.
    Once,
    /// Send the line to all remembered requesters.
    Forward,
    /// As `Send`; memory takes the line off the bus too, and answers from then on.
    SendBack,
    /// As `Forward`; memory takes the line too.
    ForwardBack,
    /// Try again later.
    Recycle,
}

/// A cell of the table.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// What to do, in this order.
    pub actions: &'static [Action],
    /// The state afterwards.
    pub next: State,
}

use Action::*;
use State::*;

/// A row: its state, then cells in the order of [`Event`]. `None` cannot happen.
type Row = (State, [Option<(&'static [Action], State)>; MOSI_EVENTS]);

const fn go(actions: &'static [Action], next: State) -> Option<(&'static [Action], State)> {
    Some((actions, next))
}

/// A processor's access to, or replacement of, a line in a transaction: try again later.
const fn z(state: State) -> Option<(&'static [Action], State)> {
    Some((&[Recycle], state))
}

/// Nothing happens.
const fn pop(state: State) -> Option<(&'static [Action], State)> {
    Some((&[], state))
}

// The table is wider than a line of text may be; a row a state reads best.
#[rustfmt::skip]
const ROWS: [Row; MOSI_STATES] = [
    //         Load              Store               Replace           OwnGets           OwnGetx                   OwnPutx      OtherGets              OtherGetx              OtherPutx    Data
    (I,       [go(&[Gets], IS_AD), go(&[Getx], IM_AD), go(&[Drop], I),   None,             None,                     None,        pop(I),                pop(I),                pop(I),       None]),
    (S,       [go(&[Hit], S),    go(&[Getx], SM_AD), go(&[Drop], I),   None,             None,                     None,        pop(S),                go(&[Drop], I),        pop(S),       None]),
    (O,       [go(&[Hit], O),    go(&[Getx], OM_A),  go(&[Putx], OI_A), None,            None,                     None,        go(&[Send], O),        go(&[Send, Drop], I),  pop(O),       None]),
    (M,       [go(&[Hit], M),    go(&[Hit], M),      go(&[Putx], MI_A), None,            None,                     None,        go(&[Send], O),        go(&[Send, Drop], I),  pop(M),       None]),
    (IS_AD,   [z(IS_AD),         z(IS_AD),           z(IS_AD),         pop(IS_D),        None,                     None,        pop(IS_AD),            pop(IS_AD),            pop(IS_AD),   go(&[Save], IS_A)]),
    (IS_A,    [z(IS_A),          z(IS_A),            z(IS_A),          go(&[Finish], S), None,                     None,        pop(IS_A),             pop(IS_A),             pop(IS_A),    None]),
    (IS_D,    [z(IS_D),          z(IS_D),            z(IS_D),          None,             None,                     None,        pop(IS_D),             pop(IS_D_I),           pop(IS_D),    go(&[Finish], S)]),
    (IS_D_I,  [z(IS_D_I),        z(IS_D_I),          z(IS_D_I),        None,             None,                     None,        pop(IS_D_I),           pop(IS_D_I),           pop(IS_D_I),  go(&[Once], I)]),
    (IM_AD,   [z(IM_AD),         z(IM_AD),           z(IM_AD),         None,             pop(IM_D),                None,        pop(IM_AD),            pop(IM_AD),            pop(IM_AD),   go(&[Save], IM_A)]),
    (IM_A,    [z(IM_A),          z(IM_A),            z(IM_A),          None,             go(&[Finish], M),         None,        pop(IM_A),             pop(IM_A),             pop(IM_A),    None]),
    (IM_D,    [z(IM_D),          z(IM_D),            z(IM_D),          None,             None,                     None,        go(&[Record], IM_D_O), go(&[Record], IM_D_I), pop(IM_D),    go(&[Finish], M)]),
    (IM_D_O,  [z(IM_D_O),        z(IM_D_O),          z(IM_D_O),        None,             None,                     None,        go(&[Record], IM_D_O), go(&[Record], IM_D_OI), pop(IM_D_O), go(&[Finish, Forward], O)]),
    (IM_D_I,  [z(IM_D_I),        z(IM_D_I),          z(IM_D_I),        None,             None,                     None,        pop(IM_D_I),           pop(IM_D_I),           pop(IM_D_I),  go(&[Once, Forward], I)]),
    (IM_D_OI, [z(IM_D_OI),       z(IM_D_OI),         z(IM_D_OI),       None,             None,                     None,        pop(IM_D_OI),          pop(IM_D_OI),          pop(IM_D_OI), go(&[Once, Forward], I)]),
    (SM_AD,   [z(SM_AD),         z(SM_AD),           go(&[Drop], IM_AD), None,             pop(SM_D),                None,        pop(SM_AD),            go(&[Drop], IM_AD),    pop(SM_AD),   go(&[Save], SM_A)]),
    (SM_A,    [z(SM_A),          z(SM_A),            go(&[Drop], IM_A), None,             go(&[Finish], M),         None,        pop(SM_A),             go(&[Drop], IM_A),     pop(SM_A),    None]),
    (SM_D,    [z(SM_D),          z(SM_D),            go(&[Drop], IM_D), None,             None,                     None,        go(&[Record], SM_D_O), go(&[Record], IM_D_I), pop(SM_D),    go(&[Finish], M)]),
    (SM_D_O,  [z(SM_D_O),        z(SM_D_O),          go(&[Drop], IM_D_O), None,             None,                     None,        go(&[Record], SM_D_O), go(&[Record], IM_D_OI), pop(SM_D_O), go(&[Finish, Forward], O)]),
    (OM_A,    [z(OM_A),          z(OM_A),            go(&[Keep], OM_A), None,             go(&[Hit], M),            None,        go(&[Send], OM_A),     go(&[Send, Drop], IM_AD), pop(OM_A), go(&[Save], IM_A)]),
    (MI_A,    [z(MI_A),          z(MI_A),            z(MI_A),          None,             None,                     go(&[Drop], I), go(&[Send], MI_A),  go(&[Send], II_A),     pop(MI_A),    None]),
    (OI_A,    [z(OI_A),          z(OI_A),            z(OI_A),          None,             None,                     go(&[Drop], I), go(&[Send], OI_A),  go(&[Send], II_A),     pop(OI_A),    None]),
    (II_A,    [z(II_A),          z(II_A),            z(II_A),          None,             None,                     go(&[Drop], I), pop(II_A),          pop(II_A),             pop(II_A),    None]),
];

/// The cell of `state` and `event`, or `None` where the protocol has none.
pub fn transition(state: State, event: Event) -> Option<Transition> {
    let (_, cells) = ROWS.get(state as usize)?;
    let (actions, next) = (*cells.get(event as usize)?)?;
    Some(Transition { actions, next })
}

impl State {
    /// Every state of MOSI, in the order of the table.
    pub fn all() -> impl Iterator<Item = State> {
        ROWS.iter().map(|(state, _)| *state)
    }

    /// Whether the state is stable: no transaction is under way.
    pub fn stable(self) -> bool {
        matches!(self, I | S | O | M | E)
    }

    /// Whether this node must answer for the line.
    pub fn owns(self) -> bool {
        matches!(self, O | M | E | OM_A | MI_A | OI_A)
    }
}

impl Event {
    /// Every event, in the order of the columns.
    pub const ALL: [Event; EVENTS] = [
        Event::Load,
        Event::Store,
        Event::Replace,
        Event::OwnGets,
        Event::OwnGetx,
        Event::OwnPutx,
        Event::OtherGets,
        Event::OtherGetx,
        Event::OtherPutx,
        Event::Data,
        Event::OwnGetsAlone,
    ];
}

/// The protocol has no transition for this event, which is an error of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the protocol has no transition for {event:?} in state {state:?}")]
pub struct TransitionError {
    /// The line's state.
    pub state: State,
    /// What happened.
    pub event: Event,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_where_their_state_says() {
        for (i, (state, _)) in ROWS.iter().enumerate() {
            assert_eq!(*state as usize, i);
        }
        for (i, event) in Event::ALL.iter().enumerate() {
            assert_eq!(*event as usize, i);
        }
    }

    #[test]
    fn only_owners_send_and_only_stable_lines_hit() {
        for state in State::all() {
            for event in Event::ALL {
                let Some(cell) = transition(state, event) else { continue };
                if cell.actions.contains(&Send) {
                    assert!(state.owns(), "{state:?} {event:?}");
                }
                if matches!(event, Event::Load | Event::Store) && !state.stable() {
                    assert_eq!(cell.actions, [Recycle], "{state:?} {event:?}");
                    assert_eq!(cell.next, state);
                }
                if event == Event::OtherGetx {
                    assert!(!cell.next.owns() && cell.next != S, "{state:?} keeps rights after another's write");
                }
            }
        }
    }

    #[test]
    fn owners_never_ignore_a_request() {
        for state in State::all().filter(|state| state.owns()) {
            for event in [Event::OtherGets, Event::OtherGetx] {
                let cell = transition(state, event).unwrap_or_else(|| panic!("{state:?} {event:?}"));
                assert!(cell.actions.contains(&Send), "{state:?} {event:?}");
            }
        }
    }
}
