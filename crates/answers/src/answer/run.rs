//! The answer of a run: how long a transfer took, or what a cell delivers, and why.
//!
//! The headline is the first of these that fits:
//!
//! 0. nothing arrived;
//! 1. at least half of the transfers did not finish, but, if there are several users, not all: how many; for a single
//!    user of whom none finished, how much had arrived;
//! 2. several users share a channel: its rate and how busy it is;
//! 3. several users otherwise, such as users of dedicated channels, or uploads: the rate of all phones together during
//!    the run, and, for each group, the rate of a phone from its request (or start) to its last byte;
//! 4. one user with endless traffic: the rate at which the data were received;
//! 5. one user who loads pages or files one after the other: the median load time;
//! 6. one download: how long it took, and its largest causes.
//!
//! If there are downloads and uploads, the headline is about the downloads, and a sentence about the uploads follows.
//! If there are only uploads, the headline is about them.

use super::lines::{LINES, Line, line_of};
use super::{Answer, Cell, Fact, MAX_ROWS, Mark, ONE_REPLICATION, Picture, Rows, SURVIVORS};
use crate::causes::{Paths, SMALL};
use crate::digits::{ALWAYS, Shown, Unit, general, number, plain, scale_of, shown};
use crate::metrics::{ALL, ALL_UP, Group, Metric, Row, Tables, is_mixed, left_out, phones};
use crate::rings::distance_table;
use crate::stats::{CONFIDENCE, Interval, mean_interval, sum};
use crate::survivors::{Unfinished, finished, no_arrival_hint, unfinished};
use crate::words::{counted, joined, percent, sentence};

/// Busy share of the time from which on the headline calls a channel full.
const FULL: f64 = 0.95;
/// Maximum number of groups whose rates the headline lists.
const GROUPS: usize = 4;
/// Failures, relative to the target, up to which a target counts as met: a loop meets its target on average over a long
/// time, and begins a run without a correction.
const TOLERANCE: f64 = 1.1;

/// Replications of a scenario, and what the caller adds to their answer.
pub struct Ran<'a> {
    pub name: &'a str,
    pub tables: &'a dyn Tables,
    pub metrics: &'a [Metric],
    pub summary: &'a [Row],
    pub runs: usize,
    pub seed: u64,
    /// Reason for the number of replications; empty if it was asked for.
    pub stopping: &'a str,
    /// Outer loops of the scenario's link adaptation.
    pub loops: &'a [Loop],
    /// Causes of the first transfer of a scenario's only phone, if they are known.
    pub why: Option<&'a Paths>,
    /// Whether the answer may suggest options of a command.
    pub commands: bool,
    pub next: Option<Next<'a>>,
}

/// What the command of a run suggests next.
pub struct Next<'a> {
    /// Folder with the tables; empty for none.
    pub folder: &'a str,
    pub has_report: bool,
    /// Command that explains a transfer.
    pub explain: &'a str,
}

/// Outer loop of link adaptation, whose correction keeps a target of block errors.
pub struct Loop {
    /// Table with the block errors of its first transmissions.
    pub table: String,
    /// `downlink` or `uplink`.
    pub direction: String,
    /// Its key in the scenario.
    pub key: String,
    pub target_bler: f64,
    pub limit_db: f64,
}

/// Table of the blocks, direction and key of each outer loop of link adaptation.
const LOOPS: [(&str, &str, &str); 3] = [
    ("phones", "downlink", "radio.hsdpa.link_adaptation.cqi.outer_loop"),
    ("phones", "downlink", "radio.lte.cqi.outer_loop"),
    ("uplinks", "uplink", "radio.lte.uplink.scheduled.outer_loop"),
];

/// Outer loops of a resolved scenario.
pub fn loops(scenario: &serde_json::Value) -> Vec<Loop> {
    let found = |(table, direction, key): (&str, &str, &str)| {
        let spec = scenario.pointer(&format!("/{}", key.replace('.', "/")))?;
        Some(Loop {
            table: table.to_owned(),
            direction: direction.to_owned(),
            key: key.to_owned(),
            target_bler: spec.get("target_bler")?.as_f64()?,
            limit_db: spec.get("limit_db")?.as_f64()?,
        })
    };
    LOOPS.into_iter().filter_map(found).collect()
}

pub fn answer(ran: &Ran) -> Answer {
    Builder::new(ran).answer()
}

fn interval_text(interval: &Interval, unit: Unit) -> Shown {
    shown(interval.mean, interval.low, interval.high, unit)
}

fn of_group(label: &str, row: &Row) -> String {
    if row.group == ALL { label.to_owned() } else { format!("{label} ({})", row.group) }
}

struct Builder<'a> {
    ran: &'a Ran<'a>,
    /// All users; their downloads if there are also uploads.
    all: Group<'a>,
    is_mixed: bool,
    is_upload: bool,
    users: usize,
    phones: usize,
    open: Unfinished,
    /// Whether any receiver got data in any replication.
    received: bool,
    /// Time at which the longest replication ended, s; 0 if there are no bearers.
    duration_s: f64,
    /// Groups of these users.
    groups: Vec<String>,
}

impl<'a> Builder<'a> {
    fn new(ran: &'a Ran<'a>) -> Self {
        let all = Group::new(ran.tables, ALL);
        let duration_s = ran.tables.numbers("bearers", "end_s").iter().copied().fold(0.0, f64::max);
        let open = unfinished(&all, duration_s);
        Self {
            ran,
            is_mixed: is_mixed(ran.tables),
            is_upload: ran.tables.has("flows", "direction")
                && ran.tables.texts("flows", "direction").names == ["up"],
            users: distinct(&all.column("flows", "user")).len(),
            phones: phones(ran.tables).len(),
            received: all.column("flows", "delivered_bytes").iter().any(|&bytes| bytes > 0.0),
            groups: all.distinct("group"),
            open,
            duration_s,
            all,
        }
    }

    fn answer(&self) -> Answer {
        let ran = self.ran;
        let paths = ran.why.filter(|_| self.users == 1);
        let bars = paths.map(|paths| paths.bars("", SMALL)).filter(|bars| !bars.bars.is_empty());
        let number = ran.summary.iter().filter(|row| row.group == ALL).count();
        let rows = self.shown();
        Answer {
            command: "nodeb run".to_owned(),
            subject: ran.name.to_owned(),
            headline: self.headline(),
            lead: self.lead(),
            picture: bars.map(Picture::Bars).or_else(|| distance_table(ran.tables).map(Picture::Rows)),
            facts: self.facts(&rows),
            marks: self.marks(&rows),
            notes: self.notes(),
            everything: all_metrics(ran.summary, ran.metrics),
            folded: if ran.next.is_some() { format!("all {number} metrics") } else { String::new() },
            ..Answer::default()
        }
    }

    fn row(&self, metric: &str, group: &str) -> Option<&'a Row> {
        let of_metric = |row: &&Row| row.metric == metric && row.group == group && row.mean.is_finite();
        self.ran.summary.iter().find(of_metric)
    }

    fn metric(&self, row: &Row) -> &'a Metric {
        let metric = self.ran.metrics.iter().find(|metric| metric.name == row.metric);
        metric.expect("a summary has rows of known metrics")
    }

    fn text(&self, row: &Row) -> Shown {
        shown(row.mean, row.low, row.high, Unit::new(&row.unit, self.metric(row).percent))
    }

    fn value(&self, metric: &str) -> Option<Shown> {
        self.row(metric, ALL).map(|row| self.text(row))
    }

    fn sure(&self, metric: &str) -> String {
        self.value(metric).map_or_else(|| "nothing".to_owned(), |value| value.with_level())
    }

    fn is_zero(&self, metric: &str) -> bool {
        self.row(metric, ALL).is_some_and(|row| row.mean == 0.0)
    }

    fn transfer(&self) -> &'static str {
        if self.is_upload { "upload" } else { "download" }
    }

    fn end(&self) -> String {
        number(self.duration_s, "s")
    }

    fn headline(&self) -> String {
        let mut sentences = self.main();
        if self.is_mixed {
            sentences.push(sentence(&self.uploads()));
        }
        sentences.join(" ")
    }

    fn main(&self) -> Vec<String> {
        let receiver = if self.is_upload { "server" } else { "phone" };
        // The bearers of a cell carry only the ACKs of uploads.
        let is_cell = !self.is_upload && self.value("cell_bps").is_some();
        let share = self.open.share();
        if !self.received {
            let is_one = self.is_upload || self.users == 1;
            let place =
                if is_one { format!("the {receiver}") } else { format!("any of {} phones", self.users) };
            return vec![format!("nothing arrived at {place} in {}.", self.end())];
        }
        if (0.5..1.0).contains(&share) || (share >= 1.0 && self.users == 1) {
            let cell = is_cell.then(|| sentence(&self.cell()));
            return [self.did_not_finish()].into_iter().chain(cell).collect();
        }
        if is_cell {
            return vec![self.cell()];
        }
        if self.users > 1 {
            return vec![self.together()];
        }
        if self.open.transfers == 0 {
            return vec![format!("the {receiver} received {}.", self.sure("received_bps"))];
        }
        if self.value("load_median_s").is_some() {
            let done = if self.is_upload { "sent" } else { "loaded" };
            return vec![format!("half of what was {done} took at most {}.", self.sure("load_median_s"))];
        }
        let mut sentences = vec![format!("the {} took {}.", self.transfer(), self.sure("download_s"))];
        if let Some(paths) = self.ran.why {
            let main = paths.main_causes(self.open.count > 0);
            sentences.extend(Some(main).filter(|main| !main.is_empty()));
        }
        sentences
    }

    fn uploads(&self) -> String {
        if let Some(took) = self.row("download_s", ALL_UP) {
            return format!("an upload took {}.", self.text(took).with_level());
        }
        if let Some(rate) = self.row("received_bps", ALL_UP) {
            return format!("the uploads got {} each.", self.text(rate).with_level());
        }
        "nothing was uploaded.".to_owned()
    }

    fn did_not_finish(&self) -> String {
        let Unfinished { count, transfers, received, .. } = self.open;
        let end = self.end();
        if self.users == 1 && count == transfers {
            let part = percent(received);
            return format!("the {} did not finish in {end}; {part} of it had arrived.", self.transfer());
        }
        let share = percent(self.open.share());
        format!(
            "{share} of the transfers ({count} of {transfers}) had not finished when the run ended after {end}."
        )
    }

    fn cell(&self) -> String {
        let rate = self.sure("cell_bps");
        let text = format!("the cell delivers {rate} to {}.", counted(self.users, "phone"));
        let Some(busy) = self.row("cell_busy", ALL) else { return text };
        let full = if busy.mean >= FULL { "full: " } else { "" };
        let value = self.text(busy).value();
        format!("{text} It is {full}busy {value} of the time.")
    }

    fn together(&self) -> String {
        let bytes = self.all.sums("flows", "delivered_bytes");
        let ends_s = self.all.most("bearers", "end_s");
        let rates: Vec<_> = bytes.iter().zip(ends_s).map(|(bytes, end_s)| 8.0 * bytes / end_s).collect();
        let mean = mean_interval(&rates, CONFIDENCE).within(0.0, f64::INFINITY);
        let together = interval_text(&mean, "bit/s".into()).with_level();
        let (verb, begin) = if self.is_upload { ("send", "start") } else { ("receive", "request") };
        format!(
            "{} {verb} {together} together over the whole run. From its {begin} to its last byte, a phone {verb}s {}.",
            counted(self.users, "phone"),
            self.of_each()
        )
    }

    /// Mean rate of a phone: of all phones or of each group; of many groups, the lowest and the highest.
    fn of_each(&self) -> String {
        let rate = |row: &Row| self.text(row).value();
        let of_group = |row: &Row| format!("{} ({})", rate(row), row.group);
        let is_rate = |row: &&Row| row.metric == "received_bps" && self.groups.contains(&row.group);
        let rates: Vec<_> = self.ran.summary.iter().filter(is_rate).collect();
        if rates.len() < 2 {
            return self.row("received_bps", ALL).map_or_else(String::new, rate);
        }
        if rates.len() > GROUPS {
            let by_rate = |one: &&&Row, other: &&&Row| one.mean.total_cmp(&other.mean);
            let [least, most] = [rates.iter().min_by(by_rate), rates.iter().rev().max_by(by_rate)];
            return format!(
                "from {} to {}",
                least.map_or_else(String::new, |row| of_group(row)),
                most.map_or_else(String::new, |row| of_group(row))
            );
        }
        joined(&rates.into_iter().map(of_group).collect::<Vec<_>>(), "and")
    }

    fn lead(&self) -> String {
        let runs = self.ran.runs;
        let about = if runs > 1 {
            format!("Mean of {}, with 95 % intervals.", counted(runs, "replication"))
        } else {
            "One replication, so there are no confidence intervals.".to_owned()
        };
        format!("{about} {}", self.finish())
    }

    /// Sentence that all transfers finished, if so, and which problems did not occur.
    fn finish(&self) -> String {
        if !self.received {
            return String::new();
        }
        let absent = LINES.iter().filter(|line| !line.trouble.is_empty() && self.is_zero(line.name));
        let absent: Vec<_> = absent.map(|line| line.trouble).collect();
        let all = self.open.transfers > 0 && self.open.count == 0;
        match (all, absent.is_empty()) {
            (true, true) => "All finished.".to_owned(),
            (true, false) => format!("All finished, without {}.", joined(&absent, "or")),
            (false, true) => String::new(),
            (false, false) => format!("Without {}.", joined(&absent, "or")),
        }
    }

    /// Whether some transfers finished, and some did not.
    fn is_partial(&self) -> bool {
        0 < self.open.count && self.open.count < self.open.transfers
    }

    fn facts(&self, rows: &[&Row]) -> Vec<Fact> {
        let share = self.is_partial().then(|| self.finished_share());
        let fact = |row: &&Row| Fact {
            name: self.label(row),
            shown: self.text(row),
            mark: if row.covered < 1.0 { SURVIVORS } else { "" }.to_owned(),
        };
        share.into_iter().chain(rows.iter().map(fact)).collect()
    }

    /// Rows of the summary that become key figures.
    fn shown(&self) -> Vec<&'a Row> {
        let first: &[&str] = if self.is_partial() { &["download_s", "application_bps"] } else { &[] };
        let mut lines: Vec<_> = LINES.iter().filter(|line| line.of_many > 0).collect();
        lines.sort_by_key(|line| line.of_many);
        if self.users == 1 {
            lines = LINES.iter().filter(|line| line.of_one).collect();
        }
        let troubles = LINES.iter().filter(|line| !line.trouble.is_empty() && !self.is_zero(line.name));
        let names = lines.into_iter().chain(troubles).map(|line: &Line| line.name);
        let rows = first.iter().copied().chain(names).flat_map(|name| self.rows(name));
        rows.take(MAX_ROWS - usize::from(self.is_partial())).collect()
    }

    fn rows(&self, metric: &str) -> Vec<&'a Row> {
        if self.users == 2 && metric == "received_bps_p50" {
            return Vec::new(); // The median of two users equals their mean, which is shown already.
        }
        let of_groups: Vec<_> = self.groups.iter().filter_map(|group| self.row(metric, group)).collect();
        if metric == "load_median_s" && of_groups.len() < self.groups.len() && self.groups.len() > 1 {
            return of_groups;
        }
        self.row(metric, ALL).into_iter().collect()
    }

    fn finished_share(&self) -> Fact {
        let endless = self.all.column("flows", "endless");
        let finished = finished(&self.all);
        let ends: Vec<_> = endless
            .iter()
            .zip(finished)
            .map(|(&endless, finished)| if endless > 0.0 { f64::NAN } else { f64::from(u8::from(finished)) })
            .collect();
        let means = self.all.mean("flows", &ends);
        let mean = mean_interval(&finite(&means), CONFIDENCE).within(0.0, 1.0);
        let shown = interval_text(&mean, Unit::new("1", true));
        Fact { name: "transfers that finished".to_owned(), shown, mark: String::new() }
    }

    /// Label of a key figure, with its group if that is not all users.
    fn label(&self, row: &Row) -> String {
        let own = &self.metric(row).label;
        let line = line_of(&row.metric).1;
        let is_own = line.label.is_empty() || (self.users == 1 && line.name == "received_bps");
        let label = if is_own { own } else { line.label };
        let label =
            if self.is_upload { label.replace("by the phone", "by the server") } else { label.to_owned() };
        of_group(&label, row)
    }

    /// Remarks on unfinished transfers and on means that exclude some users.
    fn marks(&self, shown: &[&Row]) -> Vec<Mark> {
        let Unfinished { count, transfers, .. } = self.open;
        let mut marks = Vec::new();
        if count == transfers && transfers > 0 && self.users > 1 {
            marks.push(Mark::warning(format!(
                "None of the {transfers} transfers finished in {}: no download times, and the rates count the data \
                 that had arrived by then.",
                self.end()
            )));
        }
        let is_shown = |row: &Row| shown.iter().any(|one| one.group == row.group && one.metric == row.metric);
        let rest = self.ran.summary.iter().filter(|row| !is_shown(row) && row.mean.is_finite());
        let visible = shown.iter().map(|row| (self.label(row), self.metric(row), row.covered));
        let rest = rest.map(|row| (of_group(&self.metric(row).label, row), self.metric(row), row.covered));
        marks.extend(left_out(visible).into_iter().map(|text| Mark::survivors(text, false)));
        marks.extend(left_out(rest).into_iter().map(|text| Mark::survivors(text, true)));
        marks.extend(self.is_partial().then(|| Mark::warning(self.of_all())));
        marks
    }

    /// Sentence on the download times of all transfers, finished or not.
    fn of_all(&self) -> String {
        let Unfinished { count, transfers, median_s, at_least_s, .. } = self.open;
        let done = format!("{} of {transfers} transfers finished", transfers - count);
        let least = number(at_least_s, "s");
        if median_s.is_finite() {
            let median = number(median_s, "s");
            return format!(
                "{done}; the median download time of all is {median} (Kaplan-Meier), the mean at least {least}."
            );
        }
        format!("{done}; the mean download time of all is at least {least}.")
    }

    /// What concerns the length of the run, missed targets, and provenance.
    fn notes(&self) -> Vec<String> {
        let ran = self.ran;
        let mut notes = Vec::new();
        if !self.received {
            let why = no_arrival_hint(self.duration_s, self.ran.commands);
            notes.push(format!("Nothing arrived: {why}"));
        } else if self.open.count > 0 {
            notes.push(self.longer());
        }
        notes.extend(missed_targets(ran.tables, ran.loops));
        let why = if ran.stopping.is_empty() { String::new() } else { format!(" ({})", ran.stopping) };
        let replications = format!("{}{why}, seed {}.", counted(ran.runs, "replication"), ran.seed);
        notes.push(format!("{replications} {}", self.finish()).trim_end().to_owned());
        if ran.runs < 2 && self.ran.commands {
            notes.push(ONE_REPLICATION.to_owned());
        }
        let Some(next) = &ran.next else { return notes };
        let tables =
            if next.folder.is_empty() { String::new() } else { format!("{} has the tables", next.folder) };
        let report = if next.has_report { "" } else { "--report draws a page" };
        let parts: Vec<_> = [tables.as_str(), report].into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            notes.push(format!("{}.", parts.join("; ")));
        }
        if self.received {
            let explain = next.explain;
            notes.push(match self.slowest() {
                Some(user) => format!("Why user {user} is slow: {explain} --user {user}"),
                None => format!("What would help: {explain} --what-if"),
            });
        }
        notes
    }

    fn longer(&self) -> String {
        let Unfinished { received, starved, enough_s, .. } = self.open;
        let none = if starved > 0.0 { format!("; {} of them none", percent(starved)) } else { String::new() };
        let arrived = format!("Unfinished transfers had received {} of their data{none}.", percent(received));
        if enough_s.is_finite() && self.ran.commands {
            let enough = general(enough_s, 6);
            return format!(
                "A longer run shows more: --set duration=\"{enough} s\" is enough at the pace of each transfer. \
                 {arrived}"
            );
        }
        arrived
    }

    /// User with the lowest mean rate, of those to whom data arrived in each run; of the only phone, none.
    fn slowest(&self) -> Option<u64> {
        let [users, rates, bytes] =
            ["user", "received_bps", "delivered_bytes"].map(|name| self.all.column("flows", name));
        if self.phones == 1 {
            return None;
        }
        let numbers = distinct(&users);
        let mut sums = vec![(0.0, 0.0, true); numbers.len()];
        for ((user, rate), bytes) in users.iter().zip(rates.iter()).zip(bytes.iter()) {
            let place = numbers.partition_point(|number| number < user);
            let (sum, count, arrived) = sums[place];
            sums[place] = (sum + rate, count + 1.0, arrived && *bytes != 0.0);
        }
        let any = sums.iter().any(|(.., arrived)| *arrived);
        let rate = |place: usize| sums[place].0 / sums[place].1;
        let places = (0..numbers.len()).filter(|&place| sums[place].2 || !any);
        places.min_by(|&one, &other| rate(one).total_cmp(&rate(other))).map(|place| numbers[place] as u64)
    }
}

fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

fn distinct(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Tables of all metrics; metrics whose mean and interval are 0 in every group are in a second one.
fn all_metrics(summary: &[Row], metrics: &[Metric]) -> Vec<Rows> {
    let mut groups: Vec<&str> = Vec::new();
    for row in summary {
        if !groups.contains(&row.group.as_str()) {
            groups.push(&row.group);
        }
    }
    let (mut zero, mut rows) = (Vec::new(), Vec::new());
    for metric in metrics {
        let of_group =
            |group: &&str| summary.iter().find(|row| row.metric == metric.name && row.group == *group);
        let found: Vec<_> = groups.iter().map(of_group).collect();
        let known: Vec<_> = found.iter().flatten().filter(|row| row.mean.is_finite()).collect();
        if known.is_empty() {
            continue;
        }
        let is_zero = |row: &Row| [row.mean, row.low, row.high].iter().all(|&end| end == 0.0);
        if known.iter().all(|row| is_zero(row)) {
            zero.push(vec![Cell::Text(metric.label.to_string())]);
            continue;
        }
        let unit = Unit::new(&metric.unit, metric.percent);
        let largest = known.iter().fold(0.0, |largest, row| row.mean.abs().max(largest));
        let unit = unit.with_scale(scale_of(largest, unit));
        let mut cells = vec![Cell::Text(metric.label.to_string())];
        for row in found {
            let text =
                row.map_or_else(|| plain(f64::NAN, unit), |row| shown(row.mean, row.low, row.high, unit));
            let is_marked = row.is_some_and(|row| row.covered < 1.0 && row.mean.is_finite());
            let (interval, mark) = (text.interval(), if is_marked { SURVIVORS } else { "" });
            let unit = format!("{} {mark}", text.unit).trim().to_owned();
            cells.push(Cell::Number(Shown { number: text.number, unit, ..Shown::default() }));
            cells.push(Cell::Text(interval));
        }
        rows.push(cells);
    }
    let name = |group: &&str| if groups.len() > 1 { (*group).to_owned() } else { String::new() };
    let heads = groups.iter().flat_map(|group| [name(group), String::new()]);
    let head = [String::new()].into_iter().chain(heads).collect();
    let mut tables = vec![Rows { head, rows, title: "All metrics".to_owned(), right: Vec::new() }];
    if !zero.is_empty() {
        tables.push(Rows {
            head: vec![String::new()],
            rows: zero,
            title: format!("0 {ALWAYS}"),
            right: Vec::new(),
        });
    }
    tables
}

/// Sentences on the outer loops whose first transmissions failed above the target.
fn missed_targets(tables: &dyn Tables, loops: &[Loop]) -> Vec<String> {
    let mut sentences = Vec::new();
    for each in loops.iter().filter(|each| tables.has(&each.table, "first_bler")) {
        let Some(share) = share_above(tables, &each.table, each.target_bler) else { continue };
        let Loop { direction, key, .. } = each;
        sentences.push(format!(
            "First transmissions in the {direction} failed at a rate of {share}, above the outer loop's target of {}: \
             its correction may need a larger {key}.limit_db than {}, or more time than the run had.",
            number(each.target_bler, Unit::new("1", true)),
            general(each.limit_db, 6),
        ));
    }
    sentences
}

/// Mean share of failures with its interval, if it is above a target.
///
/// With one replication, the interval of independent failures decides; it is too short, because failures follow the
/// channel.
fn share_above(tables: &dyn Tables, table: &str, target: f64) -> Option<String> {
    let group = Group::new(tables, ALL);
    let shares = finite(&group.mean(table, &group.column(table, "first_bler")));
    if shares.is_empty() {
        return None;
    }
    let mean = mean_interval(&shares, CONFIDENCE).within(0.0, 1.0);
    let mut low = mean.low;
    if shares.len() < 2 && mean.mean > 0.0 {
        let blocks = sum(&tables.numbers(table, "first_failures")) / mean.mean;
        low = mean.mean - 1.96 * (mean.mean * (1.0 - mean.mean) / blocks).sqrt();
    }
    let is_above = mean.mean > TOLERANCE * target && low > target;
    is_above.then(|| interval_text(&mean, Unit::new("1", true)).with_level())
}
