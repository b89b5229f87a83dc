//! Performance-enhancing proxies (RFC 3135): boxes on the path that act on TCP.
//!
//! A proxy in the core network stands at the gateway and ends connections; a [`snoop`] agent stands
//! at the Node B and leaves them whole. Both are plain machines that are told what passes and
//! answer with what to send.

pub(crate) mod rnf;
pub(crate) mod snoop;
pub(crate) mod split;

use nodeb_base::registry;
use nodeb_base::units::Time;
use nodeb_tcp::TcpSpec;

registry! {
    /// A proxy at the gateway, as a scenario names it.
    "proxy" ProxySpec {
        /// Ends the server's connection and carries its data on over one of its own (HTTP proxy).
        "split" => Split(split::Split),
        /// The same, with a window towards the phone that the RNC's reports of the bandwidth set.
        "rnf" => Rnf(rnf::Rnf),
    }
}

impl ProxySpec {
    /// TCP between the proxy and a phone whose server uses `server`.
    pub fn tcp<'a>(&'a self, server: &'a TcpSpec) -> &'a TcpSpec {
        let own = match self {
            Self::Split(params) => &params.tcp,
            Self::Rnf(params) => &params.tcp,
        };
        own.as_ref().unwrap_or(server)
    }

    /// Radio network feedback, where the proxy heeds it.
    pub fn feedback(&self) -> Option<&rnf::Rnf> {
        if let Self::Rnf(params) = self { Some(params) } else { None }
    }

    /// The proxy of connection `flow`, over whose request of `request_bytes` the server's TCP is
    /// asked.
    pub fn build(&self, flow: u32, request_bytes: u32, server: &TcpSpec) -> split::SplitProxy {
        let (_, receiver) = server.build(flow, request_bytes);
        let tcp = self.tcp(server);
        let (sender, phone) = tcp.build(flow, request_bytes);
        let request_headers = phone.request(Time::ZERO, 0).size;
        let law = self.feedback().map(|feedback| feedback.law(tcp.packet_bytes()));
        split::SplitProxy::new(receiver, sender, law, request_headers, tcp.request_timeout())
    }
}
