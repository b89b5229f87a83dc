//! Performance-enhancing proxies (RFC 3135): boxes on the path that act on TCP.
//!
//! A proxy in the core network stands at the gateway and ends connections; a [`snoop`] agent stands
//! at the Node B and leaves them whole. Both are plain machines that are told what passes and
//! answer with what to send.

pub mod snoop;
pub mod split;

use crate::registry;
use crate::transport::TcpSpec;
use crate::units::Time;

registry! {
    /// A proxy at the gateway, as a scenario names it.
    "proxy" ProxySpec {
        /// Ends the server's connection and carries its data on over one of its own (HTTP proxy).
        "split" => Split(split::Split),
    }
}

impl ProxySpec {
    /// TCP between the proxy and a phone whose server uses `server`.
    pub fn tcp<'a>(&'a self, server: &'a TcpSpec) -> &'a TcpSpec {
        match self {
            Self::Split(params) => params.tcp.as_ref().unwrap_or(server),
        }
    }

    /// The proxy of connection `flow`, over whose request of `request_bytes` the server's TCP is
    /// asked.
    pub fn build(&self, flow: u32, request_bytes: u32, server: &TcpSpec) -> split::SplitProxy {
        let (_, receiver) = server.build(flow, request_bytes);
        let (sender, phone) = self.tcp(server).build(flow, request_bytes);
        let request_headers = phone.request(Time::ZERO, 0).size;
        split::SplitProxy::new(receiver, sender, request_headers)
    }
}
