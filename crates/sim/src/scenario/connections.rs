use std::borrow::Cow;

use nodeb_base::event::Direction;
use nodeb_tcp::{Opener, TcpSpec};

use super::Scenario;

/// Download, upload, or packets from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// In the scenario's `users`.
    pub group: usize,
    /// Among all users.
    pub phone: u32,
    /// `Down` for packets from outside.
    pub direction: Direction,
}

impl Scenario {
    /// For each phone its group and its number in the group.
    pub(crate) fn phones(&self) -> impl Iterator<Item = (usize, u32)> {
        let groups = self.users.iter().enumerate();
        groups.flat_map(|(i, group)| (0..group.count.get()).map(move |nth| (i, nth)))
    }

    /// Connection `n` is user `n`'s download, or its upload without one; uploads of phones that also download
    /// follow after all users.
    pub fn connections(&self) -> Vec<Connection> {
        let (mut connections, mut uploads) = (Vec::with_capacity(self.user_count()), Vec::new());
        for (phone, (group, _)) in (0..).zip(self.phones()) {
            let of = &self.users[group];
            let connection = |direction| Connection { group, phone, direction };
            connections.push(connection(if of.only_uploads() { Direction::Up } else { Direction::Down }));
            if of.has_both_directions() {
                uploads.push(connection(Direction::Up));
            }
        }
        connections.append(&mut uploads);
        connections
    }

    pub fn has_uploads(&self) -> bool {
        self.users.iter().any(|group| group.traffic(Direction::Up).is_some())
    }

    /// The phone's group, with ` up` for the upload of a phone that also downloads.
    pub fn group_name(&self, connection: &Connection) -> Cow<'_, str> {
        let group = &self.users[connection.group];
        match group.upload_name().filter(|_| connection.direction == Direction::Up) {
            Some(name) => name.into(),
            None => Cow::Borrowed(&group.name),
        }
    }

    /// An upload is always opened by its sender, the phone.
    pub fn tcp_of_connection(&self, connection: &Connection) -> Cow<'_, TcpSpec> {
        let tcp = self.tcp_of(&self.users[connection.group]);
        match connection.direction {
            Direction::Down => Cow::Borrowed(tcp),
            // In an upload the phone has the role of the server.
            Direction::Up => Cow::Owned(tcp.with_opener(Opener::Server)),
        }
    }
}
