//! Where packets are seen: interfaces of the capture, and the connection that a packet belongs to.

use nodeb_base::event::{Event, Site};
use nodeb_sim::Scenario;
use nodeb_sim::scenario::UserGroup;
use nodeb_tcp::segment::{Kind, Segment};
use nodeb_tcp::wire::{End, TcpFields, Wire};

use crate::frame::{PROXY_SOCKET, SERVER_SOCKET, Socket, phone_socket, proxy_client_socket};

/// Where a packet is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Viewpoint {
    /// The server's interface.
    Server,
    /// The phone's interface.
    Phone,
    /// The proxy's interface on the side of the server.
    ProxyToServer,
    /// The proxy's interface on the side of the phone.
    ProxyToPhone,
    /// No interface: a Snoop agent, which repeats what was sent to the phone.
    Snoop,
}

impl Viewpoint {
    /// Where `event` shows a packet of this kind, if it is sent or received.
    pub fn of(event: &Event, kind: Kind) -> Option<Self> {
        let (site, is_sent) = match event {
            Event::Sent { place, .. } => (place.site, true),
            Event::Received { place, .. } => (place.site, false),
            _ => return None,
        };
        match site {
            Site::Server => Some(Self::Server),
            Site::Phone => Some(Self::Phone),
            // Data come from the server's side and leave towards the phone; all else goes the other way.
            Site::Proxy if (kind == Kind::Data) == is_sent => Some(Self::ProxyToPhone),
            Site::Proxy => Some(Self::ProxyToServer),
            Site::Snoop => Some(Self::Snoop),
            _ => None,
        }
    }
}

/// An interface of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The servers'.
    Server,
    /// The phones'.
    Phone,
    /// The proxy's, on either side.
    Proxy,
    /// The RNC's, on the side of the core network.
    Rnc,
    /// The Node B's: on the side of the network without an RNC, else on the side of the air.
    NodeB,
}

impl Interface {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Server, Self::Phone, Self::Proxy, Self::Rnc, Self::NodeB];

    /// Its name in the capture.
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Phone => "phone",
            Self::Proxy => "proxy",
            Self::Rnc => "rnc",
            Self::NodeB => "node_b",
        }
    }

    /// What the capture says about it.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Server => "what leaves and enters the server",
            Self::Phone => "what leaves and enters the phones",
            Self::Proxy => "what leaves and enters the proxy on either side",
            Self::Rnc => "what passes the RNC on the side of the core network",
            Self::NodeB => "what passes the Node B",
        }
    }

    /// The interface that `place` belongs to.
    pub(crate) fn of(viewpoint: Viewpoint) -> Option<Self> {
        match viewpoint {
            Viewpoint::Server => Some(Self::Server),
            Viewpoint::Phone => Some(Self::Phone),
            Viewpoint::ProxyToServer | Viewpoint::ProxyToPhone => Some(Self::Proxy),
            Viewpoint::Snoop => None,
        }
    }

    /// Those that a scenario has, of the radio network's only where `radio` asks for them.
    pub(crate) fn of_scenario(scenario: &Scenario, radio: bool) -> Vec<Self> {
        let has = |interface: &Self| match interface {
            Self::Server | Self::Phone => true,
            Self::Proxy => scenario.proxy.is_some(),
            Self::Rnc => radio && scenario.radio.facts().has_rnc,
            Self::NodeB => radio,
        };
        Self::ALL.into_iter().filter(has).collect()
    }
}

/// The connections of one flow: from the server to the phone, or to the proxy and on from there.
pub(crate) struct Connections {
    server: Box<dyn Wire>,
    from_proxy: Option<Box<dyn Wire>>,
}

/// A packet as a header with its addresses.
pub(crate) struct Seen {
    pub server: Socket,
    pub client: Socket,
    pub end: End,
    pub fields: TcpFields,
}

impl Connections {
    /// Those of a phone of `group`.
    pub fn new(scenario: &Scenario, group: &UserGroup) -> Self {
        let from_proxy = scenario.proxy.as_ref().map(|_| scenario.air_tcp_of(group).wire());
        Self { server: scenario.tcp_of(group).wire(), from_proxy }
    }

    /// What a packet looks like at `place`, where it is sent, or received with the header `arrived`. Must be told of
    /// every packet in order of time.
    pub fn seen(&mut self, viewpoint: Viewpoint, packet: &Segment, arrived: Option<TcpFields>) -> Seen {
        let end = match viewpoint {
            Viewpoint::Server | Viewpoint::ProxyToPhone | Viewpoint::Snoop => End::Server,
            Viewpoint::Phone | Viewpoint::ProxyToServer => End::Phone,
        };
        let beyond_proxy = matches!(viewpoint, Viewpoint::Phone | Viewpoint::ProxyToPhone | Viewpoint::Snoop);
        let flow = packet.flow;
        let (server, client, wire) = match &mut self.from_proxy {
            None => (SERVER_SOCKET, phone_socket(flow), &mut self.server),
            Some(wire) if beyond_proxy => (PROXY_SOCKET, phone_socket(flow), wire),
            Some(_) => (SERVER_SOCKET, proxy_client_socket(flow), &mut self.server),
        };
        let fields = arrived.unwrap_or_else(|| wire.fields(end, packet));
        if arrived.is_some() {
            wire.arrive(end, &fields);
        }
        Seen { server, client, end, fields }
    }
}
