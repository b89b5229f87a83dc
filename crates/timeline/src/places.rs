//! The places that packets pass, and the lanes between which they lie.

use nodeb_base::event::{Place, Site};
use nodeb_net::Core;
use nodeb_sim::Scenario;

/// A place between two lanes; at the ends of a way they are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// What the place is called.
    pub name: String,
    /// The lane at which packets come to it.
    pub from: usize,
    /// The lane at which they leave it.
    pub to: usize,
}

/// The places of a scenario. Tables name a place by its number here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// What stands on the path, from the server to the application.
    pub lanes: Vec<String>,
    /// The places.
    pub hops: Vec<Hop>,
    /// The number of the lane above the air.
    pub node_b: usize,
    /// Links of the core network.
    core: usize,
}

/// Numbers of the places that every scenario has; those of the core network follow, down and up in turns.
const SITES: [Site; 8] = [
    Site::Server,
    Site::WiredDown,
    Site::WiredUp,
    Site::Proxy,
    Site::Snoop,
    Site::Bearer,
    Site::Uplink,
    Site::Phone,
];

impl Places {
    /// Those of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let links: Vec<_> = scenario.core.iter().flat_map(Core::links).map(|(name, _)| name).collect();
        let has_rnc = scenario.radio.facts().has_rnc;
        let mut lanes = vec!["server".to_owned(), "gateway".to_owned()];
        lanes.extend((1..links.len()).map(|at| format!("router {at}")));
        if has_rnc {
            lanes.push("RNC".to_owned());
        }
        // Where there is no core network the gateway and what follows it are joined.
        let radio = 1 + links.len().max(1);
        let node_b = lanes.len();
        lanes.extend(["Node B", "phone", "application"].map(str::to_owned));
        let phone = node_b + 1;
        let wired = scenario.wired.name.as_deref().unwrap_or("wired");
        let hop = |site| {
            let (name, from, to) = match site {
                Site::Server => ("server".to_owned(), 0, 0),
                Site::WiredDown => (format!("{wired} down"), 0, 1),
                Site::WiredUp => (format!("{wired} up"), 1, 0),
                Site::Proxy => ("proxy".to_owned(), 1, 1),
                Site::Snoop => ("snoop".to_owned(), node_b, node_b),
                Site::Bearer => ("bearer".to_owned(), radio, phone),
                Site::Uplink => ("uplink".to_owned(), phone, radio),
                Site::Phone | Site::CoreDown | Site::CoreUp => ("phone".to_owned(), phone, phone),
            };
            Hop { name, from, to }
        };
        let mut hops: Vec<Hop> = SITES.into_iter().map(hop).collect();
        for (at, link) in (1..).zip(&links) {
            hops.push(Hop { name: format!("{link} down"), from: at, to: at + 1 });
            hops.push(Hop { name: format!("{link} up"), from: at + 1, to: at });
        }
        Self { lanes, hops, node_b, core: links.len() }
    }

    /// The number of a place.
    pub fn number(&self, place: Place) -> u16 {
        let core = |at: usize| SITES.len() + 2 * at.min(self.core.saturating_sub(1));
        let number = match place.site {
            Site::CoreDown => core(place.index as usize),
            Site::CoreUp => core(place.index as usize) + 1,
            site => SITES.iter().position(|known| *known == site).unwrap_or_default(),
        };
        number as u16
    }

    /// Whether the place of this number is a radio bearer.
    pub fn is_bearer(&self, number: u16) -> bool {
        SITES.get(usize::from(number)) == Some(&Site::Bearer)
    }

    /// The number of the bearers.
    pub fn bearer(&self) -> u16 {
        self.number(Place::new(Site::Bearer, 0))
    }

    /// The names of the places, by number.
    pub fn names(&self) -> Vec<String> {
        self.hops.iter().map(|hop| hop.name.clone()).collect()
    }
}
