//! RFC 3135: a proxy at the gateway splits each connection in two, a Snoop agent at the Node B leaves
//! connections end to end.

pub(crate) mod rnf;
pub(crate) mod snoop;
pub(crate) mod split;

use nodeb_base::registry;
use nodeb_base::units::Time;
use nodeb_tcp::TcpSpec;

registry! {
    /// Proxy at the gateway, as a scenario names it.
    "proxy" ProxySpec {
        /// Ends the server's connection and relays its data over a second one (HTTP proxy).
        "split" => Split(split::Split),
        /// Split connection whose window is set by the RNC's reports of bandwidth.
        "rnf" => Rnf(rnf::Rnf),
    }
}

impl ProxySpec {
    /// Between the proxy and a phone whose server uses `server`.
    pub fn tcp<'a>(&'a self, server: &'a TcpSpec) -> &'a TcpSpec {
        let own = match self {
            Self::Split(params) => &params.tcp,
            Self::Rnf(params) => &params.tcp,
        };
        own.as_ref().unwrap_or(server)
    }

    pub fn own_tcp_mut(&mut self) -> Option<&mut TcpSpec> {
        match self {
            Self::Split(params) => params.tcp.as_mut(),
            Self::Rnf(params) => params.tcp.as_mut(),
        }
    }

    pub fn feedback(&self) -> Option<&rnf::Rnf> {
        if let Self::Rnf(params) = self { Some(params) } else { None }
    }

    /// `request_bytes` is the payload of the connection's first request.
    pub fn build(&self, flow: u32, request_bytes: u32, server: &TcpSpec) -> split::SplitProxy {
        let (_, receiver) = server.build(flow, request_bytes);
        let tcp = self.tcp(server);
        let (sender, phone) = tcp.build(flow, request_bytes);
        let request_headers = phone.request(Time::ZERO, 0).size;
        let law = self.feedback().map(|feedback| feedback.law(tcp.packet_bytes()));
        split::SplitProxy::new(receiver, sender, law, request_headers, tcp.request_timeout())
    }
}
