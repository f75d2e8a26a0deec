//! The table `[limits]` of a configuration.

use std::{net::SocketAddr, time::Duration};

use sealwright_session::ReplayWindow;
use serde::Deserialize;

use crate::{
    control::{Limits as ControlLimits, OpenLimits, Rate},
    data::Settings,
    serve::config_error::ValueError,
};

/// The longest time, in seconds or milliseconds, so that sums of times stay in the range of the clock.
const MAX_TIME: u64 = 1_000_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    frame_bytes: usize,
    connections: usize,
    queue_kib: usize,
    sender_wait_ms: u64,
    stall_seconds: u64,
    first_frame_seconds: u64,
    bad_frames: u32,
    handshakes_per_second: f64,
    handshakes_per_second_from_one_address: f64,
    handshakes_at_once: usize,
    handshakes_from_one_address: usize,
    handshake_seconds: u64,
    session_hours: f64,
    connections_from_one_address: Option<usize>,
    idle_seconds: u64,
    frames_per_second_of_one_session: u32,
    sessions_of_one_certificate: Option<u32>,
    openings_per_minute_with_one_certificate: f64,
    openings_per_minute_of_one_session: f64,
    replay_window: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        let settings = Settings::default();
        Limits {
            frame_bytes: settings.max_frame,
            connections: settings.max_connections,
            queue_kib: settings.queue >> 10,
            sender_wait_ms: settings.sender_wait.as_millis() as u64,
            stall_seconds: settings.stall.as_secs(),
            first_frame_seconds: settings.first_frame.as_secs(),
            bad_frames: settings.max_bad,
            handshakes_per_second: 100.0,
            handshakes_per_second_from_one_address: 50.0,
            handshakes_at_once: 64,
            handshakes_from_one_address: 16,
            handshake_seconds: 10,
            session_hours: 24.0,
            connections_from_one_address: None,
            idle_seconds: settings.idle.as_secs(),
            frames_per_second_of_one_session: 0,
            sessions_of_one_certificate: None,
            openings_per_minute_with_one_certificate: 60_000.0,
            openings_per_minute_of_one_session: 600.0,
            replay_window: ReplayWindow::Wide.packets(),
        }
    }
}

impl Limits {
    pub(super) fn check(&self, drain_seconds: f64) -> Result<(), ValueError> {
        at_least("limits.frame_bytes", self.frame_bytes as u64, 64)?;
        at_most("limits.frame_bytes", self.frame_bytes as u64, 65_535)?;
        at_least("limits.queue_kib", self.queue_kib as u64, 2 * self.frame_bytes.div_ceil(1024) as u64)?;
        at_least("limits.connections", self.connections as u64, 1)?;
        at_least("limits.handshakes_at_once", self.handshakes_at_once as u64, 1)?;
        at_least("limits.handshakes_from_one_address", self.handshakes_from_one_address as u64, 1)?;
        at_least("limits.handshake_seconds", self.handshake_seconds, 1)?;
        at_least("limits.first_frame_seconds", self.first_frame_seconds, 1)?;
        at_least("limits.idle_seconds", self.idle_seconds, 1)?;
        at_least("limits.stall_seconds", self.stall_seconds, 1)?;
        for (name, value) in [
            ("limits.handshake_seconds", self.handshake_seconds),
            ("limits.first_frame_seconds", self.first_frame_seconds),
            ("limits.idle_seconds", self.idle_seconds),
            ("limits.stall_seconds", self.stall_seconds),
            ("limits.sender_wait_ms", self.sender_wait_ms),
        ] {
            at_most(name, value, MAX_TIME)?;
        }
        let most = self.connections_from_one_address.map_or(u64::MAX, |most| most as u64);
        at_least("limits.connections_from_one_address", most, 1)?;
        at_least("limits.sessions_of_one_certificate", self.sessions_of_one_certificate.unwrap_or(1).into(), 1)?;
        for (name, value) in [
            ("limits.handshakes_per_second", self.handshakes_per_second),
            ("limits.handshakes_per_second_from_one_address", self.handshakes_per_second_from_one_address),
            ("limits.session_hours", self.session_hours),
            ("limits.openings_per_minute_with_one_certificate", self.openings_per_minute_with_one_certificate),
            ("limits.openings_per_minute_of_one_session", self.openings_per_minute_of_one_session),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(ValueError::NotPositive(name));
            }
        }
        if drain_seconds.is_finite() && drain_seconds >= 0.0 {
            Ok(())
        } else {
            Err(ValueError::NotPositive("drain_seconds"))
        }
    }

    pub(super) fn settings(&self, udp: Option<SocketAddr>) -> Settings {
        Settings {
            max_frame: self.frame_bytes,
            max_connections: self.connections,
            queue: self.queue_kib << 10,
            queues: Settings::default().queues,
            sender_wait: Duration::from_millis(self.sender_wait_ms),
            stall: Duration::from_secs(self.stall_seconds),
            first_frame: Duration::from_secs(self.first_frame_seconds),
            udp,
            max_bad: self.bad_frames,
            // Depends on the room, see `share_of_address`
            max_from_one: usize::MAX,
            idle: Duration::from_secs(self.idle_seconds),
            session_rate: self.frames_per_second_of_one_session,
        }
    }

    /// The most connections from one address, if the file limits them.
    pub(super) fn share_of_address(&self) -> Option<usize> {
        self.connections_from_one_address
    }

    /// The most sessions of one certificate, of so many in all, unless the file says: half of them. At most half as
    /// many as there may be connections, because each can hold one.
    fn share_of_certificate(&self, sessions: u32) -> u32 {
        let connections = u32::try_from(self.connections).unwrap_or(u32::MAX);
        sessions.min(connections).div_ceil(2)
    }

    pub(super) fn replay_window(&self) -> Result<ReplayWindow, ValueError> {
        ReplayWindow::of_packets(self.replay_window).ok_or(ValueError::ReplayWindow)
    }

    pub(super) fn control(&self, sessions: u32) -> ControlLimits {
        ControlLimits {
            rate: Rate {
                per_second: self.handshakes_per_second,
                per_second_from_one: self.handshakes_per_second_from_one_address,
                at_once: self.handshakes_at_once,
                at_once_from_one: self.handshakes_from_one_address,
            },
            time: Duration::from_secs(self.handshake_seconds),
            lifetime: Duration::from_secs_f64((self.session_hours * 3600.0).min(1e9)),
            open: OpenLimits {
                sessions: self.sessions_of_one_certificate.unwrap_or_else(|| self.share_of_certificate(sessions)),
                by_certificate: self.openings_per_minute_with_one_certificate,
                of_session: self.openings_per_minute_of_one_session,
            },
        }
    }
}

pub(super) fn at_least(name: &'static str, value: u64, least: u64) -> Result<(), ValueError> {
    if value < least { Err(ValueError::TooSmall(name, least)) } else { Ok(()) }
}

pub(super) fn at_most(name: &'static str, value: u64, most: u64) -> Result<(), ValueError> {
    if value > most { Err(ValueError::TooLarge(name, most)) } else { Ok(()) }
}
