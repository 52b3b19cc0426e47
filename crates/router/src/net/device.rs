//! What a side of the router needs to be a network: its device up, its addresses, its routes.

use super::address::Side;
use super::{Error, Namespace, setting};
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::ffi::CString;
use std::io;
use std::net::IpAddr;

/// Settings of a TUN device.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// The longest IP packet, bytes.
    pub mtu: u32,
    /// Packets that may wait for the router.
    pub queue: u32,
    /// The window that TCP connections start with, in segments.
    pub initial_window: u32,
    /// Whether TCP acknowledges every segment at once.
    pub quick_acks: bool,
}

impl Default for Device {
    fn default() -> Self {
        // A bottleneck's worth of packets never waits here unless the router is held up.
        Self {
            name: "sojourn".into(),
            mtu: 1500,
            queue: 10_000,
            initial_window: 10,
            quick_acks: false,
        }
    }
}

/// Makes the device of `side` its network: loopback and device up, the side's addresses local (all
/// of them, without adding any), everything else through the device.
///
/// # Errors
/// If the kernel refuses any of it.
pub fn configure(namespace: &Namespace, side: Side, device: &Device) -> Result<(), Error> {
    let ours: Vec<(&str, &str)> =
        setting::OURS.iter().copied().filter(|(name, _)| setting::exists(name)).collect();
    setting::set(namespace, &ours)?;
    namespace.run(|| {
        let mut kernel = Kernel::connect()?;
        let (loopback, tun) = (index("lo")?, index(&device.name)?);
        kernel.change(loopback, Vec::new())?;
        let length = LinkAttribute::TxQueueLen(device.queue);
        kernel.change(tun, vec![LinkAttribute::Mtu(device.mtu), length])?;
        kernel.add_address(tun, side)?;
        let own = side.device();
        let (network, prefix) = side.network();
        kernel.add_route(Route {
            to: Some((network.into(), prefix)),
            device: loopback,
            source: None,
            metrics: Vec::new(),
            kind: RouteType::Local,
        })?;
        kernel.add_route(Route {
            to: None,
            device: tun,
            source: Some(own.into()),
            metrics: vec![
                RouteMetric::InitCwnd(device.initial_window),
                RouteMetric::QuickAck(u32::from(device.quick_acks)),
            ],
            kind: RouteType::Unicast,
        })
    })
}

fn index(name: &str) -> Result<u32, Error> {
    let text = CString::new(name).map_err(|e| Error::of(name, e.into()))?;
    // SAFETY: the call gets a terminated string that outlives it.
    #[expect(unsafe_code, reason = "a system call with a C string")]
    let index = unsafe { libc::if_nametoindex(text.as_ptr()) };
    if index == 0 { Err(Error::last(format!("device {name}"))) } else { Ok(index) }
}

/// A route of the main or the local table.
struct Route {
    /// Network and length of its prefix; none: everything.
    to: Option<(IpAddr, u8)>,
    device: u32,
    source: Option<IpAddr>,
    metrics: Vec<RouteMetric>,
    kind: RouteType,
}

/// A netlink socket of the calling thread's namespace.
struct Kernel {
    socket: Socket,
    sequence: u32,
}

impl Kernel {
    fn connect() -> Result<Self, Error> {
        let open = || -> io::Result<Socket> {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            socket.connect(&SocketAddr::new(0, 0))?;
            Ok(socket)
        };
        open().map(|socket| Self { socket, sequence: 0 }).map_err(|e| Error::of("netlink", e))
    }

    /// Changes attributes of a device and brings it up.
    fn change(&mut self, device: u32, attributes: Vec<LinkAttribute>) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes = attributes;
        self.ask("bringing a device up", 0, RouteNetlinkMessage::SetLink(message))
    }

    fn add_address(&mut self, device: u32, side: Side) -> Result<(), Error> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.index = device;
        let own = IpAddr::from(side.device());
        message.attributes = vec![AddressAttribute::Local(own), AddressAttribute::Address(own)];
        self.ask("adding an address", NLM_F_CREATE, RouteNetlinkMessage::NewAddress(message))
    }

    fn add_route(&mut self, route: Route) -> Result<(), Error> {
        let local = route.kind == RouteType::Local;
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = if local { libc::RT_TABLE_LOCAL } else { libc::RT_TABLE_MAIN };
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = if local { RouteScope::Host } else { RouteScope::Link };
        message.header.kind = route.kind;
        let address = |address: IpAddr| match address {
            IpAddr::V4(address) => RouteAddress::Inet(address),
            IpAddr::V6(address) => RouteAddress::Inet6(address),
        };
        message.attributes.push(RouteAttribute::Oif(route.device));
        if let Some((network, prefix)) = route.to {
            message.header.destination_prefix_length = prefix;
            message.attributes.push(RouteAttribute::Destination(address(network)));
        }
        if let Some(source) = route.source {
            message.attributes.push(RouteAttribute::PrefSource(address(source)));
        }
        if !route.metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(route.metrics));
        }
        self.ask("adding a route", NLM_F_CREATE, RouteNetlinkMessage::NewRoute(message))
    }

    /// Sends a request and waits for its acknowledgement.
    fn ask(&mut self, what: &str, flags: u16, request: RouteNetlinkMessage) -> Result<(), Error> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        let failed = |e| Error::of(what, e);
        self.socket.send(&bytes, 0).map_err(failed)?;
        let (answer, _) = self.socket.recv_from_full().map_err(failed)?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
            .map_err(|e| failed(io::Error::other(e)))?;
        match answer.payload {
            // An error of code none is the acknowledgement.
            NetlinkPayload::Error(error) if error.code.is_some() => Err(failed(error.to_io())),
            NetlinkPayload::Error(_) => Ok(()),
            _ => Err(failed(io::Error::other("an answer that is none"))),
        }
    }
}
