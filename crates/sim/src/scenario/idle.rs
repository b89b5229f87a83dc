//! Keys without effect because of another key; if that is in the same table of a radio, channel or TCP
//! family, the component reports them.

use nodeb_air::UserRadio;
use nodeb_base::check::Check;
use nodeb_base::keys;
use nodeb_net::QueueSpec;
use nodeb_radio::{Parts, Queue, Uplink};
use nodeb_tcp::TcpSpec;

use super::{Scenario, UserGroup, defaults};

impl Scenario {
    /// A scenario without users is skipped, as its users determine which keys have an effect.
    pub(super) fn check_idle(&self, check: &mut Check) {
        if self.users.is_empty() {
            return;
        }
        let users: Vec<UserRadio> = (0..).zip(&self.users).map(|(i, group)| group.radio(i)).collect();
        check.within("radio", |check| {
            check.within(self.radio.key(), |check| self.radio.check_users(&users, check));
        });
        let by_trace = "the trace in `radio.trace.up` says when phones send";
        let uplink = self.radio.parts().uplink;
        check.within("uplink", |check| {
            check.idle(uplink.is_recorded(), &keys!(&self.uplink; rate), by_trace);
            let all = keys!(&self.uplink; rate, delay, loss, queue, jitter, reordering);
            check.idle(uplink.is_scheduled(), &all, "the base station schedules the uplink");
        });
        let marked = self.queues().any(|queue| queue.marks());
        let own_tcp = self.users.iter().all(|group| group.tcp.is_some());
        let is_default = [TcpSpec::default(), defaults::tcp(&self.radio)].contains(&self.tcp);
        check.idle(own_tcp, &[("tcp", is_default)], "every group of users has a `tcp` of its own");
        if !own_tcp {
            let downloads = self.users.iter().any(|group| group.tcp.is_none() && !group.only_uploads());
            check.within("tcp", |check| {
                self.tcp.check_marks(marked, check);
                self.tcp.check_opener(downloads, check);
            });
        }
        check.within("users", |check| {
            for (i, group) in self.users.iter().enumerate() {
                check.within(i, |check| group.check_idle(marked, check));
            }
        });
    }

    fn queues(&self) -> impl Iterator<Item = &QueueSpec> {
        let core = self.core.iter().flat_map(|core| core.links().map(|(_, link)| &link.queue));
        let Parts { queue, uplink, .. } = self.radio.parts();
        let uplink = match uplink {
            Uplink::Scheduled(queue) => queue,
            Uplink::Plain | Uplink::Recorded(_) => &self.uplink.queue,
        };
        let own = match queue {
            Queue::Link(queue) | Queue::Rlc(queue) => Some(queue),
            Queue::Buffer(_) | Queue::Rnc(_) => None,
        };
        [&self.wired.queue, uplink].into_iter().chain(core).chain(own)
    }
}

impl UserGroup {
    /// `marked` if a queue on the path can set CE.
    fn check_idle(&self, marked: bool, check: &mut Check) {
        let stagger = ("stagger", self.stagger.0 == 0);
        check.advise_idle(self.count.get() == 1, &[stagger], "there is one phone in the group");
        let by_command = [
            ("traffic", self.traffic.is_none()),
            ("upload", self.upload.is_none()),
            ("tcp", self.tcp.is_none()),
            ("start", self.start.0 == 0),
            stagger,
        ];
        check.idle(self.real, &by_command, "the phones are real, so that commands decide");
        if let Some(tcp) = &self.tcp {
            check.within("tcp", |check| {
                tcp.check_marks(marked, check);
                tcp.check_opener(!self.only_uploads(), check);
            });
        }
    }
}
