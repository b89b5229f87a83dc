use nodeb_base::event::{Event, Site};
use nodeb_sim::Scenario;
use nodeb_sim::scenario::{Connection, Direction};
use nodeb_tcp::segment::{Kind, Segment};
use nodeb_tcp::wire::{End, TcpFields, Wire};

use crate::frame::{PROXY_SOCKET, SERVER_SOCKET, Socket, phone_socket, proxy_client_socket};

/// Sends or receives a captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Viewpoint {
    Server,
    Phone,
    ProxyToServer,
    ProxyToPhone,
    /// Has no interface in the capture.
    Snoop,
}

impl Viewpoint {
    pub fn of(event: &Event, kind: Kind) -> Option<Self> {
        let (site, is_sent) = match event {
            Event::Sent { place, .. } => (place.site, true),
            Event::Received { place, .. } => (place.site, false),
            _ => return None,
        };
        match site {
            Site::Server => Some(Self::Server),
            Site::Phone => Some(Self::Phone),
            // A proxy receives data from the server and sends them to the phone; all other packets take the opposite
            // direction.
            Site::Proxy if (kind == Kind::Data) == is_sent => Some(Self::ProxyToPhone),
            Site::Proxy => Some(Self::ProxyToServer),
            Site::Snoop => Some(Self::Snoop),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    Server,
    Phone,
    Proxy,
    Rnc,
    NodeB,
    Pdcp,
}

impl Interface {
    pub const ALL: [Self; 6] = [Self::Server, Self::Phone, Self::Proxy, Self::Rnc, Self::NodeB, Self::Pdcp];

    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Phone => "phone",
            Self::Proxy => "proxy",
            Self::Rnc => "rnc",
            Self::NodeB => "node_b",
            Self::Pdcp => "pdcp",
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Server => "packets sent and received by the server",
            Self::Phone => "packets sent and received by the phones",
            Self::Proxy => "packets sent and received by the proxy on both sides",
            Self::Rnc => "packets passing the RNC towards and from the core network",
            Self::NodeB => "packets passing the Node B",
            Self::Pdcp => "PDCP PDUs that base station and phones pass to RLC, with Wireshark's UDP framing",
        }
    }

    /// `None` for a Snoop agent.
    pub(crate) fn of(viewpoint: Viewpoint) -> Option<Self> {
        match viewpoint {
            Viewpoint::Server => Some(Self::Server),
            Viewpoint::Phone => Some(Self::Phone),
            Viewpoint::ProxyToServer | Viewpoint::ProxyToPhone => Some(Self::Proxy),
            Viewpoint::Snoop => None,
        }
    }

    /// Those of the radio network only with `radio`.
    pub(crate) fn of_scenario(scenario: &Scenario, radio: bool) -> Vec<Self> {
        let has = |interface: &Self| match interface {
            Self::Server | Self::Phone => true,
            Self::Proxy => scenario.proxy.is_some(),
            Self::Rnc => radio && scenario.radio.parts().has_rnc(),
            Self::NodeB => radio,
            Self::Pdcp => radio && scenario.radio.parts().pdcp.is_some(),
        };
        Self::ALL.into_iter().filter(has).collect()
    }
}

/// A single one; with a proxy, one to the server and one to the phone.
pub(crate) struct Connections {
    phone: Socket,
    direction: Direction,
    server: Box<dyn Wire>,
    from_proxy: Option<Box<dyn Wire>>,
}

/// With the addresses of the ends.
pub(crate) struct Seen {
    pub server: Socket,
    pub client: Socket,
    pub end: End,
    pub fields: TcpFields,
}

impl Connections {
    pub fn new(scenario: &Scenario, flow: u32, connection: &Connection) -> Self {
        let &Connection { group, phone, direction } = connection;
        let group = &scenario.users[group];
        Self {
            phone: phone_socket(phone, flow),
            direction,
            server: scenario.tcp_of_connection(connection).wire(),
            from_proxy: scenario.proxy.as_ref().map(|_| scenario.air_tcp_of(group).wire()),
        }
    }

    /// Must be called for all packets in the order of time, because each header depends on the state of its connection.
    pub fn header(&mut self, viewpoint: Viewpoint, packet: &Segment, arrived: Option<TcpFields>) -> Seen {
        let end = self.end(viewpoint);
        let beyond_proxy = matches!(viewpoint, Viewpoint::Phone | Viewpoint::ProxyToPhone | Viewpoint::Snoop);
        let (server, client, wire) = match (&mut self.from_proxy, self.direction) {
            (None, Direction::Down) => (SERVER_SOCKET, self.phone, &mut self.server),
            (None, Direction::Up) => (self.phone, SERVER_SOCKET, &mut self.server),
            (Some(wire), _) if beyond_proxy => (PROXY_SOCKET, self.phone, wire),
            (Some(_), _) => (SERVER_SOCKET, proxy_client_socket(packet.flow), &mut self.server),
        };
        let fields = arrived.unwrap_or_else(|| wire.fields(end, packet));
        if arrived.is_some() {
            wire.arrive(end, &fields);
        }
        Seen { server, client, end, fields }
    }

    fn end(&self, viewpoint: Viewpoint) -> End {
        let faces_phone = matches!(viewpoint, Viewpoint::Server | Viewpoint::ProxyToPhone | Viewpoint::Snoop);
        if faces_phone == (self.direction == Direction::Down) { End::Server } else { End::Phone }
    }
}
