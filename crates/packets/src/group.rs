//! A traffic group at run time: where its packets go, how its members differ, what it counts.

use crate::interface::{Access, Machines};
use crate::packet::TRANSIENT;
use crate::side::Side;
use sojourn_base::{Kind, Stream, Time};
use sojourn_link::{Path, halves};
use sojourn_records::GroupBook;
use sojourn_scenario::private_delay;
use sojourn_traffic::Sampler;

/// The flow has no meter.
pub(crate) const NO_METER: u32 = u32::MAX;

/// A member: its group, and its number in it.
pub(crate) type Member = (usize, u32);

/// A group.
#[derive(Clone)]
pub(crate) struct Group {
    /// Names its random streams.
    pub key: u32,
    pub members: u32,
    /// Number of its first member among those of all groups.
    pub first_member: u32,
    pub tcp: sojourn_tcp::Params,
    /// The settings of QUIC, if its connections run over that.
    pub quic: Option<sojourn_quic::Params>,
    /// How hosts are connected at each end.
    pub access: Access,
    /// The machines that its members share, if they do.
    pub machines: Option<Machines>,
    /// How long what waits at a sending host's interface may take to go out; [`Time::MAX`]: as
    /// long as it likes.
    pub backlog: Time,
    /// The longest time that a host takes over a segment that it sends.
    pub processing: Time,
    /// The path of data, and the path back.
    pub paths: [Path; 2],
    pub rtt: Option<Sampler>,
    /// To servers of web users but the first.
    pub server_rtt: Option<Sampler>,
    /// Connections that each member has opened, if their round trips are drawn anew each time.
    pub connections: Option<Vec<u32>>,
    /// Whether its connections over QUIC have a stream for each object, whose ends are told.
    pub streams: bool,
    /// Whether segments are stamped with their time of sending because they carry no timestamps.
    pub stamp: bool,
    pub book: GroupBook,
    /// The sides of each member's datagrams, if it sends any.
    pub datagrams: Vec<[Side; 2]>,
    /// The meter of the first member, if its flows are metered.
    pub first_meter: Option<u32>,
    /// Members that have a meter of their own.
    pub metered: Vec<(u32, u32)>,
    /// Links whose rates follow the answers of its pings.
    pub followers: Vec<u32>,
    /// Whether its time is over: nothing new is sent or begun.
    pub stopped: bool,
    pub seed: u64,
}

impl Group {
    /// The number of a member's machines among those of all groups. Who comes and goes has those
    /// of its `place`.
    pub(crate) fn machine_number(&self, member: u32, place: u32) -> u32 {
        if member >= self.members {
            return place | TRANSIENT;
        }
        self.first_member + self.machines.as_ref().map_or(member, |all| member % all.count)
    }

    /// The stream of one kind for one member (or one transfer, by its number).
    pub(crate) fn stream(&self, kind: Kind, index: u64) -> Stream {
        Stream::new(self.seed, kind, self.key, index)
    }

    /// Payload bytes of a full packet; of QUIC's those of a stream's beginning.
    pub(crate) fn payload(&self) -> u32 {
        // Short header with a number of a byte, tag, and a STREAM frame's type, ID and length.
        self.quic.as_ref().map_or(self.tcp.payload, |quic| quic.max_udp_payload - 30)
    }

    /// The meter of a member's flow, or [`NO_METER`].
    pub(crate) fn meter_of(&self, member: u32) -> u32 {
        let own = self.metered.iter().find(|(metered, _)| *metered == member);
        let of_group = self.first_meter.map_or(NO_METER, |first| first + member);
        own.map_or(of_group, |&(_, meter)| meter)
    }

    /// Its members send datagrams.
    pub(crate) fn open_datagrams(&mut self) {
        self.datagrams = (0..u64::from(self.members)).map(|i| self.sides(i, 0, 0, 0)).collect();
    }

    /// Which of the draws of a member's round trip is for the connection that it opens now.
    pub(crate) fn next_draw(&mut self, member: u32) -> u32 {
        let Some(connections) = &mut self.connections else { return 0 };
        let opened = &mut connections[member as usize];
        *opened += 1;
        *opened
    }

    /// What the two ends of flow `index` need to send: the delay that its minimum
    /// round trip leaves beside propagation is shared by both ends. `data_from` is the end on the
    /// data's side; `server` is which of the flow's servers it talks to, `draw` which of the draws
    /// of its round trip holds.
    pub(crate) fn sides(&self, index: u64, data_from: usize, server: u8, draw: u32) -> [Side; 2] {
        let [there, back] = &self.paths;
        let propagation = (there.propagation + back.propagation).0;
        let (rtt, server) = match &self.server_rtt {
            Some(rtt) if server > 0 => (Some(rtt), u64::from(server)),
            _ => (self.rtt.as_ref(), 0),
        };
        let name = u64::from(draw) << 40 | server << 32 | index;
        let stream = &mut self.stream(Kind::Delay, name);
        let extra = private_delay(rtt, propagation, self.members, index, stream);
        // A host takes at least a nanosecond: what it sends at an instant can then not meet, at
        // that same instant, what others have sent before.
        let side =
            |path: &Path, delay: Time| Side::new((path.lead + delay).max(Time(1)), path.first);
        let own = halves(extra);
        let (mut data, mut back) = (side(there, own[0]), side(back, own[1]));
        if let Some(machines) = &self.machines {
            data = data.shares(machines.of(index, false));
            back = back.shares(machines.of(index, true));
        }
        if data_from == 0 { [data, back] } else { [back, data] }
    }
}
