use nodeb_base::params;
use std::collections::VecDeque;

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Distance, Probability, Speed};

use super::interference::InterferenceSpec;
use super::mobility::{Area, Movement, Point, Walk, distance};
use super::path_loss::PathLossSpec;
use super::path_loss::sight::Sights;
use super::shadowing::{Shadowing, Shadows};
use crate::numerology::Numerology;

params! {
    /// Cell and its Node B. Defaults: TR 25.848, table A.3, unless another source is named.
    pub struct Cell {
        /// Distance from the Node B to the corners of its cell.
        pub radius: Distance = Distance::from_metres(1_000),
        /// Total transmit power of the Node B in dBm.
        pub power_dbm: f64 = 44.0,
        /// Share of the transmit power that HS-PDSCH uses.
        pub hs_share: Probability = Probability(0.8),
        /// Antenna gain of the Node B in dB, minus cable losses.
        pub antenna_gain_db: f64 = 14.0,
        /// Path loss between the Node B and a phone as a function of their distance.
        pub path_loss: PathLossSpec,
        /// Shadowing, whose values are correlated over distance and between sites.
        pub shadowing: Shadowing,
        /// Interference from other cells.
        pub interference: InterferenceSpec,
        /// Thermal noise of the phone including its noise figure, in dBm. Default: -108.2 dBm in 3.84 MHz
        /// plus 9 dB.
        pub noise_dbm: f64 = -99.2,
        /// Share of the own cell's power that does not interfere, whatever the paths are. Default:
        /// none; each path receives interference from the power on the other paths, as in a rake
        /// receiver.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub orthogonality: Option<Probability>,
    }
}

impl Checked for Cell {
    fn check(&self, check: &mut Check) {
        check.range("radius", self.radius, Distance::from_metres(10)..=Distance::from_metres(100_000));
        for (key, value) in [
            ("power_dbm", self.power_dbm),
            ("antenna_gain_db", self.antenna_gain_db),
            ("noise_dbm", self.noise_dbm),
        ] {
            check.range(key, value, -200.0..=200.0);
        }
        check.require(self.hs_share.0 > 0.0, "hs_share", || {
            "0 is out of range, as HS-PDSCH needs power; expected more than 0".to_owned()
        });
        check.within("path_loss", |check| self.path_loss.check(check));
        let reach = self.path_loss.reach().unwrap_or(self.radius);
        check.advise(self.radius <= reach, "radius", || {
            format!("{} is beyond the {reach} for which TR 38.901 gives `path_loss`", self.radius)
        });
        check.within("shadowing", |check| self.shadowing.check(check));
        check.within("interference", |check| self.interference.check(check));
    }
}

fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

impl Cell {
    /// Keys that affect only users with a position; true for those with their default.
    pub fn keys_of_places(&self) -> [(&'static str, bool); 9] {
        keys!(self; radius, power_dbm, hs_share, antenna_gain_db, path_loss, shadowing, interference, noise_dbm,
            orthogonality)
    }

    /// `empty` if no user has a position, `still` if none moves.
    pub fn check_shadowing(&self, empty: bool, still: bool, check: &mut Check) {
        let all = keys!(&self.shadowing; correlation_distance, site_correlation);
        let off = self.shadowing.is_off();
        let alone = !self.interference.has_sites();
        check.within("shadowing", |check| {
            check.advise_idle(!empty && off, &all, "`sigma_db = 0` switches shadowing off");
            check.advise_idle(!empty && !off && still, &all[..1], "no user in the cell moves");
            let one_site = "`interference = \"fixed\"` has one site";
            check.advise_idle(!empty && !off && alone, &all[1..], one_site);
        });
    }

    /// The first is the Node B of the cell itself, at the origin.
    pub fn sites(&self) -> Vec<Point> {
        match &self.interference {
            InterferenceSpec::Hexagonal(grid) => grid.sites(self.radius.as_metres()),
            InterferenceSpec::Fixed(_) => vec![[0.0; 2]],
        }
    }

    pub fn area(&self, served: usize) -> Area {
        self.area_among(&self.sites(), served)
    }

    fn area_among(&self, sites: &[Point], served: usize) -> Area {
        Area { sites: sites[..served.clamp(1, sites.len())].to_vec(), radius: self.radius.as_metres() }
    }

    /// 0 if interference is a fixed level.
    fn load(&self) -> f64 {
        match &self.interference {
            InterferenceSpec::Hexagonal(grid) => grid.load.0,
            InterferenceSpec::Fixed(_) => 0.0,
        }
    }

    /// In mW, averaged over fading.
    pub(super) fn powers(
        &self,
        sites: &[Point],
        place: Point,
        (shadows, sights): (&Shadows, &Sights),
        powers: &mut Vec<f64>,
    ) {
        let received = |(site, at): (usize, &Point)| {
            let median = self.path_loss.loss(distance(place, *at), sights.of(site));
            let loss_db = median.db + shadows.loss_db(site, median.sigma_db);
            from_db(self.power_dbm + self.antenna_gain_db - loss_db)
        };
        powers.clear();
        powers.extend(sites.iter().enumerate().map(received));
    }

    /// All powers are averaged over fading, so the result is the reciprocal of the geometry factor.
    pub(super) fn disturbance(&self, powers: &[f64], serving: usize) -> f64 {
        let (before, own) = (&powers[..serving], powers[serving]);
        let others = match &self.interference {
            InterferenceSpec::Hexagonal(grid) => {
                grid.load.0 * before.iter().chain(&powers[serving + 1..]).sum::<f64>()
            }
            InterferenceSpec::Fixed(params) => from_db(params.level_dbm),
        };
        (others + from_db(self.noise_dbm)) / own
    }

    pub fn rake(&self) -> Rake {
        Rake {
            hs_share: self.hs_share.0 as f32,
            disturbing: self.orthogonality.map(|share| 1.0 - share.0 as f32),
        }
    }
}

/// Relative rounding error of an SNR computed from path gains in single precision.
const ROUNDING: f32 = 1e-5;

#[derive(Clone, Copy, Debug)]
pub struct Rake {
    hs_share: f32,
    /// Share of the own cell's power that interferes; `None` if it depends on the paths.
    disturbing: Option<f32>,
}

impl Rake {
    /// Linear, per chip. Maximum-ratio combining adds the SNRs of the paths; codes are orthogonal on one
    /// path, so a path receives interference only from the power on the other paths, from other cells and
    /// noise. If `orthogonality` is set, a fixed share of the own cell's power interferes instead.
    pub fn snr(self, gains: impl Iterator<Item = f32> + Clone, disturbance: f32) -> f32 {
        let total: f32 = gains.clone().sum();
        match self.disturbing {
            Some(share) => self.hs_share * total / (share * total + disturbance),
            None => self.hs_share * gains.map(|gain| gain / (total - gain + disturbance)).sum::<f32>(),
        }
    }

    /// Bound for all path gains up to `gains`; infinite if the interference may vanish.
    pub fn highest_snr(self, gains: &[f32], disturbance: f32) -> f32 {
        let total: f32 = gains.iter().sum();
        let least = match self.disturbing {
            Some(share) => share * total + disturbance,
            // The bound assumes that the other paths have faded completely. By rounding, the sum of
            // the gains minus a path's gain may be less than zero, so a margin for rounding is
            // subtracted too.
            None => (disturbance - ROUNDING * total).max(0.0),
        };
        let highest = self.hs_share * total / least * (1.0 + ROUNDING);
        if highest.is_nan() { f32::INFINITY } else { highest }
    }

    /// The loops have a form that compilers vectorize.
    #[inline]
    pub fn snrs<const N: usize>(self, gains: &[[f32; N]], disturbance: f32) -> [f32; N] {
        let (mut total, mut ratios) = ([0.0; N], [0.0; N]);
        for gains in gains {
            (0..N).for_each(|i| total[i] += gains[i]);
        }
        if let Some(share) = self.disturbing {
            for total in &mut total {
                *total = self.hs_share * *total / (share * *total + disturbance);
            }
            return total;
        }
        for gains in gains {
            (0..N).for_each(|i| ratios[i] += gains[i] / (total[i] - gains[i] + disturbance));
        }
        for ratio in &mut ratios {
            *ratio *= self.hs_share;
        }
        ratios
    }
}

/// Distance between evaluations of path loss and shadowing, as a share of the correlation distance.
const STEP_SHARE: f64 = 0.02;
/// Largest distance between two evaluations.
const LONGEST_STEP_M: f64 = 5.0;

/// Steps after which a user's shadowing is drawn again (655 correlation distances, 33 km by default), so that
/// a user who was not evaluated for long need not be simulated step by step. The cost is that shadowing then
/// changes suddenly.
const STRETCH: u64 = 1 << 15;

/// It equals the longest delay of CQI reports that a scenario can have.
const LOOK_BACK_S: f64 = 10.0;

#[derive(Clone, Copy, Debug)]
pub struct Trip {
    pub place: Point,
    pub movement: Movement,
    pub speed: Speed,
    /// In rad from east to north; `None` for a random one.
    pub heading: Option<f64>,
    /// At least 1: the first sites of the grid.
    pub served: usize,
    pub numerology: Numerology,
}

/// The disturbance, the power of other cells and noise divided by that of the serving site, is computed at
/// steps of fixed length and interpolated linearly. Each site that may serve has its own.
#[derive(Debug)]
pub struct Journey {
    cell: Cell,
    sites: Vec<Point>,
    walk: Walk,
    shadows: Shadows,
    sights: Sights,
    id: u64,
    streams: Streams,
    step_m: f64,
    /// Steps since the start.
    walked: u64,
    places: [Point; 2],
    /// Infinite if the user does not move.
    step_ttis: f64,
    /// Oldest step in `past`.
    first: u64,
    past: Vec<VecDeque<f32>>,
    /// Largest number of steps in `past`.
    most: usize,
    powers: Vec<f64>,
    serving: usize,
}

impl Journey {
    /// At the start the site received best serves.
    pub fn new(cell: &Cell, trip: Trip, id: u64, streams: &Streams) -> Self {
        let Trip { place, movement, speed, heading, served, numerology } = trip;
        let stream = |purpose| streams.stream("user", id, purpose);
        let sites = cell.sites();
        let shadows = Shadows::new(&cell.shadowing, sites.len(), stream("shadowing"));
        let sights = Sights::new(cell.path_loss.sight_correlation_m(), sites.len(), id, streams);
        let area = cell.area_among(&sites, served);
        let served = area.sites.len();
        let walk = Walk::new(movement, place, heading, area, stream("way"));
        let step_m =
            (cell.shadowing.correlation_distance.as_metres() * STEP_SHARE).clamp(0.01, LONGEST_STEP_M);
        let per_tti =
            if movement == Movement::Stays { 0.0 } else { speed.as_metres_per_s() * numerology.tti_s() };
        let mut powers = Vec::with_capacity(sites.len());
        cell.powers(&sites, place, (&shadows, &sights), &mut powers);
        let past: Vec<_> = (0..served).map(|site| [cell.disturbance(&powers, site) as f32].into()).collect();
        let best = |best, site| if powers[site] > powers[best] { site } else { best };
        let serving = (0..served).fold(0, best);
        let step_ttis = step_m / per_tti;
        Self {
            cell: cell.clone(),
            sites,
            walk,
            shadows,
            sights,
            id,
            streams: *streams,
            step_m,
            walked: 0,
            places: [place; 2],
            step_ttis,
            first: 0,
            past,
            most: (LOOK_BACK_S / numerology.tti_s() / step_ttis).ceil() as usize + 2,
            powers,
            serving,
        }
    }

    /// Without received powers and disturbances.
    fn advance(&mut self) {
        self.walked += 1;
        if self.walked.is_multiple_of(STRETCH) {
            self.begin_stretch(1);
        } else {
            self.walk.advance(self.step_m);
            self.shadows.advance(self.step_m);
        }
        self.places = [self.walk.place(), self.places[0]];
    }

    /// The caller must have added the steps to `walked` before.
    fn begin_stretch(&mut self, steps: u64) {
        let purpose = format!("shadowing {}", self.walked / STRETCH);
        self.walk.leap(self.step_m, steps, self.walked as f64 * self.step_m);
        self.shadows.restart(self.streams.stream("user", self.id, &purpose));
    }

    /// Advances to the oldest step that `past` must contain for `step`, skipping whole stretches.
    fn skip_to(&mut self, step: u64) {
        let oldest = step + 2 - self.most as u64;
        let stretch = oldest / STRETCH * STRETCH;
        if stretch > self.walked {
            let steps = stretch - self.walked;
            self.walked = stretch;
            self.begin_stretch(steps);
            self.places = [self.walk.place(); 2];
        }
        while self.walked < oldest {
            self.advance();
        }
        self.past.iter_mut().for_each(VecDeque::clear);
        self.first = oldest;
        self.record_disturbances();
    }

    fn step(&mut self) {
        self.advance();
        self.record_disturbances();
    }

    fn record_disturbances(&mut self) {
        self.sights.move_to(self.walked as f64 * self.step_m);
        let links = (&self.shadows, &self.sights);
        self.cell.powers(&self.sites, self.walk.place(), links, &mut self.powers);
        let forgets = self.past[0].len() == self.most;
        for (site, past) in self.past.iter_mut().enumerate() {
            if forgets {
                past.pop_front();
            }
            past.push_back(self.cell.disturbance(&self.powers, site) as f32);
        }
        self.first += u64::from(forgets);
    }

    /// `tti` must not decrease between calls.
    pub fn place(&mut self, tti: u64) -> Point {
        if self.step_ttis.is_infinite() {
            return self.walk.place();
        }
        self.towards(self.serving, tti);
        let [to, from] = self.places;
        let share = (tti as f64 / self.step_ttis - (self.walked - 1) as f64).clamp(0.0, 1.0);
        [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * share)
    }

    pub fn at_rest(&self) -> Option<f32> {
        self.step_ttis.is_infinite().then_some(self.past[self.serving][0])
    }

    pub fn serving(&self) -> usize {
        self.serving
    }

    pub fn change(&mut self, site: usize) {
        self.serving = site;
    }

    /// CPICH Ec/N0 up to a constant factor: the mean power received from `site` divided by all received power
    /// including noise, if every site transmits at the grid's load.
    pub fn strength(&mut self, site: usize, tti: u64) -> f32 {
        1.0 / (self.towards(site, tti) + self.cell.load() as f32)
    }

    pub fn best(&mut self, tti: u64) -> usize {
        let sites = 1..self.past.len();
        sites
            .fold(0, |best, site| if self.towards(site, tti) < self.towards(best, tti) { site } else { best })
    }

    /// `tti` may be at most 10 s before the latest one evaluated.
    pub fn disturbance(&mut self, tti: u64) -> f32 {
        self.towards(self.serving, tti)
    }

    /// Restricted as in [`Self::disturbance`].
    fn towards(&mut self, site: usize, tti: u64) -> f32 {
        if self.step_ttis.is_infinite() {
            return self.past[site][0];
        }
        let way = tti as f64 / self.step_ttis;
        let step = way as u64;
        if step + 2 > self.walked + 1 + self.most as u64 {
            self.skip_to(step);
        }
        while self.walked < step + 1 {
            self.step();
        }
        let past = &self.past[site];
        let Some(at) = step.checked_sub(self.first).map(|at| at as usize) else {
            return past[0];
        };
        past[at] + (past[at + 1] - past[at]) * (way - step as f64) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::path_loss::tr38901::uma::Uma;

    fn quiet(interference: InterferenceSpec) -> Cell {
        let shadowing = Shadowing { sigma_db: Some(0.0), ..Shadowing::default() };
        Cell { shadowing, interference, ..Cell::default() }
    }

    fn at(cell: &Cell, place: Point, movement: Movement) -> Journey {
        let trip = Trip {
            place,
            movement,
            speed: Speed::from_kmh(120),
            heading: None,
            served: 1,
            numerology: Numerology::HSDPA,
        };
        Journey::new(cell, trip, 0, &Streams::new(1, 0))
    }

    #[test]
    fn a_fixed_level_gives_the_link_budget() {
        use super::super::interference::FixedLevel;
        let cell = quiet(InterferenceSpec::Fixed(FixedLevel::default()));
        let found = at(&cell, [0.0, 800.0], Movement::Stays).disturbance(0);
        // The received power is 44 dBm + 14 dB - (128.1 + 37.6 log10(0.8)) dB. Interference is -70
        // dBm and noise is -99.2 dBm.
        let own = 10f64.powf((58.0 - 128.1 - 37.6 * 0.8f64.log10()) / 10.0);
        let expected = (10f64.powf(-7.0) + 10f64.powf(-9.92)) / own;
        assert!((f64::from(found) / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    }

    #[test]
    fn at_the_cell_edge_a_neighbour_is_as_strong_as_the_own_cell() {
        let cell = Cell { noise_dbm: -200.0, ..quiet(InterferenceSpec::default()) };
        let border = 1_000.0 * 3f64.sqrt() / 2.0;
        let found = at(&cell, [border, 0.0], Movement::Stays).disturbance(0);
        // One neighbour is at the distance of the own site (`border`). By Pythagoras two neighbours
        // are at sqrt(3) times this distance, two at sqrt(7) times and one at 3 times this
        // distance.
        let power = |ratio: f64| ratio.powf(-3.76);
        let expected = 1.0 + 2.0 * power(3f64.sqrt()) + 2.0 * power(7f64.sqrt()) + power(3.0);
        assert!((f64::from(found) / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    }

    #[test]
    fn two_paths_interfere_and_a_single_path_has_only_other_cells() {
        let cell = Cell::default();
        let snr =
            |cell: &Cell, gains: &[f32], disturbance| cell.rake().snr(gains.iter().copied(), disturbance);
        assert!((snr(&cell, &[2.0], 0.5) - 0.8 * 4.0).abs() < 1e-6);
        // The formula is 0.8 (0.6 / (0.4 + 0.1) + 0.4 / (0.6 + 0.1)).
        assert!((snr(&cell, &[0.6, 0.4], 0.1) - 1.417_142_9).abs() < 1e-5);
        let fixed = Cell { orthogonality: Some(Probability(0.9)), ..cell };
        assert!((snr(&fixed, &[0.6, 0.4], 0.1) - 0.8 / 0.2).abs() < 1e-5);
    }

    /// TTIs up to 10 s earlier may be evaluated again.
    #[test]
    fn results_do_not_depend_on_the_times_of_requests() {
        let cell = Cell::default();
        let mut steady = at(&cell, [300.0, 0.0], Movement::Straight);
        let all: Vec<f32> = (0..5_000).map(|tti| steady.disturbance(tti)).collect();
        let mut hasty = at(&cell, [300.0, 0.0], Movement::Straight);
        for tti in (10..5_000).step_by(137) {
            assert_eq!(hasty.disturbance(tti).to_bits(), all[tti as usize].to_bits());
            for back in [4, 34, 4_900] {
                let Some(then) = tti.checked_sub(back) else { continue };
                assert_eq!(hasty.disturbance(then).to_bits(), all[then as usize].to_bits(), "{tti} {back}");
            }
        }
    }

    #[test]
    fn a_long_leap_equals_single_steps() {
        let (by_distance, by_sight) = (PathLossSpec::default(), PathLossSpec::Uma(Uma::default()));
        for (movement, path_loss) in [
            (Movement::Straight, by_distance.clone()),
            (Movement::Circle, by_distance),
            (Movement::Straight, by_sight),
        ] {
            let trip = Trip {
                place: [300.0, 100.0],
                movement,
                speed: Speed::from_kmh(120),
                heading: None,
                served: 3,
                numerology: Numerology::HSDPA,
            };
            let cell = Cell { path_loss, ..Cell::default() };
            let journey = || Journey::new(&cell, trip, 0, &Streams::new(1, 0));
            let [mut often, mut seldom] = [journey(), journey()];
            let mut last = 0;
            // A stretch takes 491,520 TTIs. So some of the evaluations below are in the same
            // stretch as the previous one, and others are in a later stretch.
            for tti in [300_000, 491_600, 495_000, 1_300_000, 2_000_000] {
                (last..tti).step_by(4_000).for_each(|at| _ = often.disturbance(at));
                last = tti;
                for back in [0, 3, 4_000] {
                    let found = [&mut seldom, &mut often].map(|one| one.disturbance(tti - back).to_bits());
                    assert_eq!(found[0], found[1], "{movement:?}, TTI {tti} - {back}");
                }
                let places = [&mut seldom, &mut often].map(|one| one.place(tti).map(f64::to_bits));
                assert_eq!(places[0], places[1], "{movement:?}, TTI {tti}");
            }
        }
    }
}
