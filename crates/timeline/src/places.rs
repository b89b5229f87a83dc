//! The places that packets pass, and the lanes between which they lie.

use nodeb_base::event::{Place, Site};
use nodeb_sim::Scenario;
use nodeb_sim::scenario::PlaceNames;

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
        let names = PlaceNames::of(scenario);
        let links = names.core().len() as u32;
        let has_rnc = scenario.radio.facts().has_rnc;
        let mut lanes = vec!["server".to_owned(), "gateway".to_owned()];
        lanes.extend((1..links).map(|at| format!("router {at}")));
        if has_rnc {
            lanes.push("RNC".to_owned());
        }
        // Where there is no core network the gateway and what follows it are joined.
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
