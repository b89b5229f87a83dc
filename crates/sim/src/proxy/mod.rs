//! Performance-enhancing proxies (RFC 3135): boxes on the path that act on TCP.
//!
//! A proxy is located at the gateway and splits each connection in two. A Snoop agent is located at the Node B and
//! leaves connections end to end. The world passes each segment that reaches a proxy or agent to it, and transmits the
//! segments that it returns.

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
    /// Returns the TCP settings between the proxy and a phone whose server uses `server`.
    pub fn tcp<'a>(&'a self, server: &'a TcpSpec) -> &'a TcpSpec {
        let own = match self {
            Self::Split(params) => &params.tcp,
            Self::Rnf(params) => &params.tcp,
        };
        own.as_ref().unwrap_or(server)
    }

    /// Returns the settings of radio network feedback, or `None` if the proxy has none.
    pub fn feedback(&self) -> Option<&rnf::Rnf> {
        if let Self::Rnf(params) = self { Some(params) } else { None }
    }

    /// Creates the proxy of connection `flow`. `request_bytes` is the payload of the connection's first request, and
    /// `server` are the TCP settings of its server.
    pub fn build(&self, flow: u32, request_bytes: u32, server: &TcpSpec) -> split::SplitProxy {
        let (_, receiver) = server.build(flow, request_bytes);
        let tcp = self.tcp(server);
        let (sender, phone) = tcp.build(flow, request_bytes);
        let request_headers = phone.request(Time::ZERO, 0).size;
        let law = self.feedback().map(|feedback| feedback.law(tcp.packet_bytes()));
        split::SplitProxy::new(receiver, sender, law, request_headers, tcp.request_timeout())
    }
}
