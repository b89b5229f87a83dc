//! Answer of an explanation: where the time of a transfer went, and which change would save most.
//!
//! If changes were simulated, the headline names the largest gain that differs from 0 significantly. If no gain does,
//! it names the largest gain and says that it is not significant; for a single pair, it names the largest gain without
//! a test. If no change saves time, it says that. The headline also names the change with which most transfers finish,
//! if more finish than without that change.
//!
//! Without simulated changes, the headline names the causes that take half of the time, and the change that targets
//! most of the time. If the largest cause is an outage, or no change targets a tenth of the time, it names the remedy
//! of the largest cause instead.

use nodeb_base::cause::{Cause, Step};

use super::{Answer, Cell, Mark, ONE_REPLICATION, Picture, Rows, SURVIVORS};
use crate::causes::{Paths, SMALL, called, percent_of};
use crate::digits::{Shown, general, number, plain, shown};
use crate::stats::{CONFIDENCE, mean_interval};
use crate::what_if::Tried;
use crate::words::{counted, joined, sentence};

const UNDECIDED: &str = "?";
const ON_PATH: &str = "Time on the path is the time that a change targets: it would save all of it if TCP did \
                       everything else at the same times.";
const PARTIAL: &str = "Only of pairs of replications in which the transfer finishes with the change and without; \
                       `at least`: only of those in which it finishes only with the change, up to the end of the run.";
/// Smallest share of the duration that a change must target to be named instead of a remedy, if none was simulated.
const LEAST_SHARE: f64 = 0.1;
/// Losses in the order of [`nodeb_base::remedy::Loss`], by what would make them fewer.
const FEWER: [&str; 4] = [
    "no packet losses on links",
    "longer queues, or a smaller window",
    "more transmissions of a block",
    "a higher marking threshold",
];

/// An explained transfer.
pub struct Explained<'a> {
    pub paths: &'a Paths,
    /// Of the scenario.
    pub name: &'a str,
    pub seed: u64,
    /// Of a transfer in a recording; empty for one of a simulated user.
    pub what: &'a str,
    pub user: u64,
    pub transfer: u64,
    /// Smallest and largest size in the replications.
    pub bytes: (u64, u64),
    /// Longest possible duration, s.
    pub latest_s: f64,
    /// Replications that ended before the transfer.
    pub unfinished: usize,
    pub has_states: bool,
    pub has_opportunities: bool,
    /// Names of changes with the times in s that they target, the longest first.
    pub levers: Vec<(String, f64)>,
}

/// Commands that the answer suggests: to simulate changes, and to write a page.
pub struct Commands<'a> {
    pub what_if: &'a str,
    pub page: &'a str,
}

/// `tried` is empty if no changes were simulated. `beside` has other transfers by name.
pub fn answer(
    found: &Explained,
    tried: Option<&[Tried]>,
    commands: Option<&Commands>,
    beside: &[(&str, &Paths)],
) -> Answer {
    let known: Vec<&Tried> = tried.unwrap_or_default().iter().filter(|one| one.won().n > 0).collect();
    let helps: Vec<&Tried> = known.iter().copied().filter(|one| !is_nothing(one)).collect();
    let every = tried.filter(|tried| !tried.is_empty()).map(verdicts);
    let beside = beside.iter().map(|(whose, paths)| every_cause(paths, whose));
    Answer {
        command: "nodeb explain".to_owned(),
        subject: found.name.to_owned(),
        headline: headline(found, tried.unwrap_or_default()),
        lead: format!("Mean of {}; every nanosecond belongs to one cause.", found.replications()),
        picture: Some(Picture::Bars(found.paths.bars("where the time went", SMALL))),
        table: (!helps.is_empty()).then(|| savings(&helps)),
        marks: marks(found, &helps),
        notes: notes(found, tried, &known, &helps, commands),
        everything: [every_cause(found.paths, "")].into_iter().chain(every).chain(beside).collect(),
        folded: if commands.is_some() { "all causes, with intervals".to_owned() } else { String::new() },
        ..Answer::default()
    }
}

impl Explained<'_> {
    fn replications(&self) -> String {
        counted(self.paths.runs(), "replication")
    }

    fn is_recorded(&self) -> bool {
        !self.what.is_empty()
    }

    /// Such as `user 0's first transfer (1 byte)`.
    fn whose(&self) -> String {
        if self.is_recorded() {
            return self.what.to_owned();
        }
        let which = if self.transfer == 0 {
            "first transfer".to_owned()
        } else {
            format!("transfer {}", self.transfer)
        };
        let (least, most) = self.bytes;
        let sizes =
            if least == most { counted(least as usize, "byte") } else { format!("{least} to {most} bytes") };
        format!("user {}'s {which} ({sizes})", self.user)
    }
}

fn headline(found: &Explained, tried: &[Tried]) -> String {
    let time = mean_interval(&found.paths.times(), CONFIDENCE).within(0.0, found.latest_s);
    let whose = found.whose();
    let mut sentences = vec![if found.unfinished > 0 {
        let runs = format!("{} of {}", found.unfinished, found.replications());
        let least = number(time.mean, "s");
        format!("{whose} had not finished at the end of {runs}; it takes at least {least}.")
    } else {
        format!("{whose} took {}.", shown(time.mean, time.low, time.high, "s").with_level())
    }];
    if tried.is_empty() {
        sentences.push(found.paths.main_causes(false));
    }
    sentences.push(best_change(found, tried));
    sentences.retain(|one| !one.is_empty());
    sentences.join(" ")
}

/// A sentence on the change that helps most in simulation, or else on one that could. If no change was simulated and
/// none targets enough time, it names the remedy of the largest cause.
pub fn best_change(found: &Explained, tried: &[Tried]) -> String {
    let Some(largest) = found.paths.causes().first().copied() else {
        return "The transfer took no time.".to_owned();
    };
    let known: Vec<&Tried> = tried.iter().filter(|one| one.won().n > 0).collect();
    if !known.is_empty() {
        let mut sentences = vec![largest_gain(&known)];
        sentences.extend(more_complete(tried));
        return sentences.join(" ");
    }
    let mean_s = crate::stats::mean(&found.paths.times());
    match found.levers.first() {
        Some((name, path_s)) if !found.paths.is_outage(largest) && *path_s >= LEAST_SHARE * mean_s => {
            let time = format!("{} of {}", number(*path_s, "s"), number(mean_s, "s"));
            let gain = if tried.is_empty() { "not simulated" } else { "its gain is unknown" };
            format!("What could help: {name}, which targets {time} ({gain}).")
        }
        _ => remedy(found),
    }
}

/// Of the largest cause; empty without causes.
pub fn remedy(found: &Explained) -> String {
    let table = found.paths.table();
    let Some(row) = table.first() else { return String::new() };
    let cause = row.cause;
    let is_placed = matches!(cause, Cause::Transmission | Cause::QueueBehindOwn | Cause::QueueBehindOthers);
    let at = if found.paths.is_outage(cause) { "an outage at" } else { "at" };
    // A faster downlink, for example, does not help ACKs.
    let place =
        if is_placed { format!(", most of it {at}: {}", found.paths.place(cause)) } else { String::new() };
    let about = format!("{}, {} of the time{place}", cause.name(), percent_of(&table, &[0]));
    format!("What could help: {} ({about}).", remedy_of(found, cause))
}

fn remedy_of(found: &Explained, cause: Cause) -> String {
    let is_not_served = found.paths.step(cause) == Some(Step::NotServed);
    let text = match cause {
        _ if found.paths.is_outage(cause) => "no outage of the link",
        Cause::CongestionAvoidance if found.paths.any_lost() => {
            return format!("{}, which cut the window", fewer_losses(found.paths));
        }
        // A single user's queue may stay too short to trigger a switch.
        Cause::QueueBehindOthers if found.has_states && found.paths.place(cause) == "bearer" => {
            "a dedicated channel earlier: the FACH is shared, and signalling has priority"
        }
        Cause::Scheduler if is_not_served && found.has_opportunities => {
            "another trace: this one had no delivery opportunity meanwhile"
        }
        Cause::Scheduler if is_not_served => "a better channel: nearer to the Node B, or less fading",
        _ => usual_remedy(cause),
    };
    text.to_owned()
}

/// For the most frequent reason of losses.
fn fewer_losses(paths: &Paths) -> &'static str {
    let most = paths.lost().iter().copied().enumerate().rev().max_by_key(|(_, lost)| *lost);
    FEWER[most.map_or(0, |(reason, _)| reason)]
}

const fn usual_remedy(cause: Cause) -> &'static str {
    match cause {
        Cause::Application => "an earlier request, or writing without pauses",
        Cause::Handshake => "a connection that is open already, or a shorter round trip",
        Cause::Request => "a shorter path for the request, or a request in the SYN",
        Cause::Server => "a faster server",
        Cause::Propagation => "a shorter path",
        Cause::Transmission => "a faster channel",
        Cause::QueueBehindOwn => "less of the connection's other data at the same time",
        Cause::QueueBehindOthers => "fewer other users on the link, or a fair queue",
        Cause::Scheduler => "fewer other users in the cell, or another scheduler",
        Cause::Grant => "more frequent scheduling requests, or grants ahead of data",
        Cause::Segmentation => "a shorter TTI",
        Cause::Harq => "fewer block errors, or a shorter round trip of HARQ",
        Cause::Reordering => "a shorter T1, or more transmissions of a block",
        Cause::Rlc => "fewer block errors, or retransmission by the Node B",
        Cause::ChannelSwitching => "channels that are kept longer, or set up earlier",
        Cause::Credits => "a larger buffer at the Node B, or more frequent credits",
        Cause::Drx => "a shorter DRX cycle, or a longer inactivity timer",
        Cause::Handover => "a shorter interruption, or fewer handovers",
        Cause::DelayedAck => "immediate ACKs",
        Cause::SlowStart => "a larger initial window, or a shorter round trip",
        Cause::CongestionAvoidance => "a window that grows faster, or a shorter round trip",
        Cause::ReceiverWindow => "a larger receive window",
        Cause::SendBuffer => "a larger send buffer",
        Cause::ProxyWindow => "a larger window of the proxy",
        // Data are also retransmitted if their ACK is only late.
        Cause::Recovery => {
            "fewer losses, or their repair closer to the phone; if nothing was lost, a longer retransmission timeout"
        }
        Cause::Timeout => "earlier detection of losses; if nothing was lost, a longer retransmission timeout",
        Cause::Pacing => "a higher pacing rate",
    }
}

/// A sentence on the largest simulated gain, a significant one if there is any; `known` has the largest first.
fn largest_gain(known: &[&Tried]) -> String {
    let first = known[0];
    if first.won().mean <= 0.0 {
        return "Simulated: no change saves time.".to_owned();
    }
    let significant = known.iter().find(|one| one.won().low > 0.0);
    match significant {
        _ if first.pairs.all == 1 => format!("Simulated, largest gain: {}.", gain(first)),
        Some(one) => format!("Simulated, largest gain: {}.", gain(one)),
        None => {
            format!("Simulated: no gain differs from 0 significantly; the largest is {}.", gain(first))
        }
    }
}

/// The change, its saving, and the duration without it.
fn gain(one: &Tried) -> String {
    let won = one.won();
    let saved = shown(won.mean, won.low, won.high, "s");
    if one.pairs.both == 0 {
        return format!("{}, at least {}", one.name, saved.with_level());
    }
    let whole = number(one.baseline_s, "s");
    if one.is_complete() {
        let (value, level) = (saved.value(), saved.with_level());
        return format!("{}, {value} of {whole}{}", one.name, level.strip_prefix(&value).unwrap_or(&level));
    }
    let pairs = format!("the {} that finish with it and without", one.pairs.of(one.pairs.both));
    format!("{}, {} of the {whole} in {pairs}", one.name, saved.with_level())
}

/// A sentence on the change with which most transfers finish, if any lets more finish than without it.
fn more_complete(tried: &[Tried]) -> Option<String> {
    let best = tried.iter().rev().max_by_key(|one| one.pairs.more())?;
    let pairs = best.pairs;
    let (now, before) = (pairs.both + pairs.only_changed, pairs.both + pairs.only_plain);
    (pairs.more() > 0)
        .then(|| format!("With {}, {now} of {} transfers finish instead of {before}.", best.name, pairs.all))
}

fn is_nothing(one: &Tried) -> bool {
    let won = one.won();
    won.mean == 0.0 || won.low == 0.0 && won.high == 0.0
}

/// False without an interval.
fn is_undecided(one: &Tried) -> bool {
    one.won().low <= 0.0 && 0.0 <= one.won().high
}

fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// Name, simulated saving with its interval, and the time on the path that the change targets, empty if unknown.
pub fn savings(tried: &[&Tried]) -> Rows {
    let row = |one: &&Tried| {
        let won = one.won();
        let saved = shown(won.mean, won.low, won.high, "s");
        let least = if one.pairs.both > 0 { "" } else { "at least " };
        let mark = match one {
            _ if !one.is_complete() => SURVIVORS,
            _ if is_undecided(one) => UNDECIDED,
            _ => "",
        };
        let path = one.path_s();
        let interval = saved.interval();
        let saved = Shown {
            number: format!("{least}{}", saved.number),
            unit: format!("{} {mark}", saved.unit).trim().to_owned(),
            ..Shown::default()
        };
        let path = if path.is_nan() { text("") } else { Cell::Number(plain(path, "s")) };
        vec![text(&one.name), Cell::Number(saved), text(interval), path]
    };
    let head = ["what would help", "saves", "95 % interval", "time on the path"];
    rows(&head, tried.iter().map(row).collect(), String::new())
}

fn rows(head: &[&str], rows: Vec<Vec<Cell>>, title: String) -> Rows {
    Rows { head: head.iter().map(|name| (*name).to_owned()).collect(), rows, title, right: Vec::new() }
}

fn verdicts(tried: &[Tried]) -> Rows {
    let title = "Simulated effect of each change, compared with the time on the path that it targets";
    let row = |one: &Tried| vec![text(&one.name), text(one.outcome())];
    rows(&["change", "simulated"], tried.iter().map(row).collect(), title.to_owned())
}

/// With intervals, by decreasing time.
pub fn every_cause(paths: &Paths, whose: &str) -> Rows {
    let table = paths.table();
    let row = |at: usize| {
        let row = &table[at];
        let shown = row.shown();
        vec![
            text(called(row.cause)),
            Cell::Number(shown.clone()),
            text(shown.interval()),
            text(percent_of(&table, &[at])),
            text(general(row.packets, 3)),
        ]
    };
    let title = if whose.is_empty() { "All causes".to_owned() } else { format!("All causes of {whose}") };
    let head = ["cause", "time", "95 % interval", "share", "packets"];
    rows(&head, (0..table.len()).map(row).collect(), title)
}

/// Remark on transfers that had not finished in `unfinished` of `runs`; `of` says whose.
pub fn incomplete(unfinished: usize, runs: usize, of: &str) -> String {
    let what = if runs == 1 { "the run".to_owned() } else { format!("{unfinished} of {runs} runs") };
    let of = if of.is_empty() { String::new() } else { format!(" of {of}") };
    format!(
        "the transfer was not complete at the end of {what}{of}; the explanation covers only the time until the run \
         ended"
    )
}

fn marks(found: &Explained, helps: &[&Tried]) -> Vec<Mark> {
    let mark = |sign: &str, text: String| Mark { sign: sign.to_owned(), text, folded: false };
    let mut marks = Vec::new();
    if found.unfinished > 0 {
        let open = incomplete(found.unfinished, found.paths.runs(), "");
        marks.push(mark("!", format!("{}.", sentence(&open))));
    }
    if !helps.iter().all(|one| one.is_complete()) {
        marks.push(mark(SURVIVORS, PARTIAL.to_owned()));
    }
    if helps.iter().any(|one| one.is_complete() && is_undecided(one)) {
        marks.push(mark(UNDECIDED, "It may save nothing: its interval contains 0.".to_owned()));
    }
    marks
}

fn notes(
    found: &Explained,
    tried: Option<&[Tried]>,
    known: &[&Tried],
    helps: &[&Tried],
    commands: Option<&Commands>,
) -> Vec<String> {
    let mut notes = Vec::new();
    for one in helps {
        let (why, pairs) = (one.why(), one.pairs.summary());
        if !why.is_empty() {
            notes.push(format!("With {}, {why}.", one.name));
        }
        if !one.is_complete() && !pairs.is_empty() {
            notes.push(format!("{}: {pairs}.", sentence(&one.name)));
        }
    }
    if helps.iter().any(|one| one.path_s().is_finite()) {
        notes.push(ON_PATH.to_owned());
    }
    let idle: Vec<&str> = known.iter().filter(|one| is_nothing(one)).map(|one| &*one.name).collect();
    if !idle.is_empty() {
        notes.push(format!("No effect: {}.", joined(&idle, "and")));
    }
    let mut unknown: Vec<(String, Vec<&str>)> = Vec::new();
    for one in tried.unwrap_or_default().iter().filter(|one| one.won().n == 0) {
        let outcome = one.outcome();
        match unknown.iter_mut().find(|(other, _)| *other == outcome) {
            Some((_, names)) => names.push(&one.name),
            None => unknown.push((outcome, vec![&one.name])),
        }
    }
    notes.extend(
        unknown.iter().map(|(outcome, names)| format!("{}: {outcome}.", sentence(&joined(names, "and")))),
    );
    let is_paired = tried.is_some_and(|tried| !tried.is_empty());
    let runs = found.paths.runs();
    let pairs =
        if is_paired { format!("{} of replications", counted(runs, "pair")) } else { found.replications() };
    let adds = if helps.is_empty() { "" } else { " The savings do not add up." };
    notes.push(format!("{pairs}, seed {}.{adds}", found.seed));
    if found.is_recorded() {
        return notes;
    }
    if runs == 1 {
        notes.push(ONE_REPLICATION.to_owned());
    }
    if let Some(commands) = commands {
        notes.push(match tried {
            None => format!("What would help, simulated: {}", commands.what_if),
            Some(_) => format!("The path moment by moment: {}", commands.page),
        });
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::{More, Share};

    fn paths(cause: Cause, step: Option<Step>, place: &str, lost: [u64; 4]) -> Paths {
        let place = place.to_owned();
        let share = Share { cause, step, place, site: None, round: None, after_loss: false };
        Paths::new(vec![share], vec![1_000_000_000], 1, More { lost, ..More::default() })
    }

    fn advice(paths: &Paths, has_states: bool, has_opportunities: bool) -> String {
        let (levers, bytes) = (Vec::new(), (1, 1));
        let (name, what, seed, user, transfer, unfinished) = ("", "", 1, 0, 0, 0);
        let latest_s = f64::INFINITY;
        remedy(&Explained {
            paths,
            name,
            seed,
            what,
            user,
            transfer,
            bytes,
            latest_s,
            unfinished,
            has_states,
            has_opportunities,
            levers,
        })
    }

    #[test]
    fn advice_depends_on_what_the_path_waited_for() {
        let scheduler = paths(Cause::Scheduler, Some(Step::NotServed), "bearer", [0; 4]);
        assert!(advice(&scheduler, false, false).contains("a better channel"));
        assert!(advice(&scheduler, false, true).contains("another trace"));
        let queue = paths(Cause::QueueBehindOthers, None, "bearer", [0; 4]);
        assert!(advice(&queue, true, false).contains("a dedicated channel earlier"));
        assert!(advice(&queue, false, false).ends_with("100 % of the time, most of it at: bearer)."));
        let outage = paths(Cause::QueueBehindOwn, Some(Step::Outage), "bearer", [0; 4]);
        assert!(advice(&outage, false, false).contains("no outage of the link (queue behind own data"));
        let avoidance = paths(Cause::CongestionAvoidance, None, "", [1, 4, 0, 4]);
        assert!(
            advice(&avoidance, false, false)
                .contains("longer queues, or a smaller window, which cut the window")
        );
    }
}
