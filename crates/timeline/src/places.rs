//! Lanes are the boxes of the network at or between which places lie.

use nodeb_base::event::{Place, Site};
use nodeb_sim::Scenario;
use nodeb_sim::scenario::PlaceNames;

/// From one lane to another, or the same twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Such as `wired down`.
    pub name: String,
    /// Lane.
    pub from: usize,
    /// Lane.
    pub to: usize,
}

/// Tables refer to a place by its index in `hops`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// From the server to the application.
    pub lanes: Vec<String>,
    pub hops: Vec<Hop>,
    /// Lane of the Node B, the last before the air interface.
    pub node_b: usize,
    /// Links of the core network.
    core: usize,
}

/// The same numbers in every scenario; the core links have the next ones, downlink and uplink alternating.
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
    pub fn new(scenario: &Scenario) -> Self {
        let names = PlaceNames::of(scenario);
        let links = names.core().len() as u32;
        let has_rnc = scenario.radio.parts().has_rnc();
        let mut lanes = vec!["server".to_owned(), "gateway".to_owned()];
        lanes.extend((1..links).map(|at| format!("router {at}")));
        if has_rnc {
            lanes.push("RNC".to_owned());
        }
        // Index of the first lane of the radio network. Without a core network this lane is next to the
        // gateway, as it is with a core network of one link.
        let radio = 1 + links.max(1) as usize;
        let node_b = lanes.len();
        lanes.extend(["Node B", "phone", "application"].map(str::to_owned));
        let phone = node_b + 1;
        let hop = |place: Place| {
            let link = 1 + place.index as usize;
            let (from, to) = match place.site {
                Site::Server => (0, 0),
                Site::WiredDown => (0, 1),
                Site::WiredUp => (1, 0),
                Site::Proxy => (1, 1),
                Site::CoreDown => (link, link + 1),
                Site::CoreUp => (link + 1, link),
                Site::Snoop => (node_b, node_b),
                Site::Bearer => (radio, phone),
                Site::Uplink => (phone, radio),
                Site::Phone => (phone, phone),
            };
            Hop { name: names.name(place).into_owned(), from, to }
        };
        let core = (0..links).flat_map(|at| [Site::CoreDown, Site::CoreUp].map(|site| Place::new(site, at)));
        let places = SITES.into_iter().map(|site| Place::new(site, 0)).chain(core);
        Self { hops: places.map(hop).collect(), lanes, node_b, core: links as usize }
    }

    /// All places of a kind have the same, except core links.
    pub fn number(&self, place: Place) -> u16 {
        let core = |at: usize| SITES.len() + 2 * at.min(self.core.saturating_sub(1));
        let number = match place.site {
            Site::CoreDown => core(place.index as usize),
            Site::CoreUp => core(place.index as usize) + 1,
            site => SITES.iter().position(|other| *other == site).unwrap_or_default(),
        };
        number as u16
    }

    /// Stands for all bearers.
    pub fn bearer(&self) -> u16 {
        self.number(Place::new(Site::Bearer, 0))
    }

    /// Stands for all uplinks.
    pub fn uplink(&self) -> u16 {
        self.number(Place::new(Site::Uplink, 0))
    }

    pub fn names(&self) -> Vec<String> {
        self.hops.iter().map(|hop| hop.name.clone()).collect()
    }
}
