//! Nodes and links that packets pass, as shown to users.

use nodeb_base::event::{Place, Site};
use nodeb_base::table::Text;
use nodeb_net::Core;

use super::Scenario;

/// A link has the name that the scenario gives it, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceNames {
    wired: String,
    core: Vec<String>,
}

impl PlaceNames {
    pub fn of(scenario: &Scenario) -> Self {
        let wired = scenario.wired.name.as_deref().unwrap_or("wired").to_owned();
        let core = scenario.core.iter().flat_map(Core::links).map(|(name, _)| name).collect();
        Self { wired, core }
    }

    /// From the gateway on.
    pub fn core(&self) -> &[String] {
        &self.core
    }

    /// With that [`Self::name`].
    pub fn site(&self, name: &str) -> Option<Site> {
        let links = 0..self.core.len().max(1) as u32;
        Site::ALL
            .into_iter()
            .find(|site| links.clone().any(|link| *self.name(Place::new(*site, link)) == *name))
    }

    /// Of a link with its direction, such as `wired down`.
    pub fn name(&self, place: Place) -> Text {
        let core = |way: &str| {
            let link = self.core.get(place.index as usize).map_or("core", String::as_str);
            Text::Owned(format!("{link} {way}"))
        };
        match place.site {
            Site::Server => "server".into(),
            Site::WiredDown => format!("{} down", self.wired).into(),
            Site::WiredUp => format!("{} up", self.wired).into(),
            Site::Proxy => "proxy".into(),
            Site::CoreDown => core("down"),
            Site::CoreUp => core("up"),
            Site::Snoop => "snoop".into(),
            Site::Bearer => "bearer".into(),
            Site::Uplink => "uplink".into(),
            Site::Phone => "phone".into(),
        }
    }
}
