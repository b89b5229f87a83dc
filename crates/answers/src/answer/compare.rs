//! Answer of a comparison: which scenario is better, by how much, with which certainty.
//!
//! The main metric is the first in [`LINES`](super::lines::LINES) that can be one and has a value in both scenarios. The
//! headline is that of the first of these cases that applies:
//!
//! 0. no metric has values in both scenarios, or nothing arrived in either: nothing to compare;
//! 1. all metrics are equal in all of at least two pairs: no difference;
//! 2. the shares of transfers acknowledged in full differ, and one is at most a half: both shares;
//! 3. the main metric is better or worse: by how much;
//! 4. another metric is better or worse: by how much, and the verdict on the main metric;
//! 5. the main metric is equal in all pairs, or the same within the margin: no difference;
//! 6. a metric of which neither direction is better differs: by how much;
//! 7. undecided: how many further replications would decide.
//!
//! In the cases 3 and 4, a metric with the opposite verdict follows if its change is not small against the first one.

use std::ptr;

use super::lines::{Quantity, line_of};
use super::{Answer, Bars, Cell, MAX_ROWS, Mark, Rows, SURVIVORS};
use crate::compare::{Comparison, Difference, Kind, MoreRuns, Tried};
use crate::digits::{self, Scale, Shown, Unit, general, scale_of, shown};
use crate::metrics::{ALL, ALL_UP, left_out};
use crate::survivors::no_arrival_hint;
use crate::words::{counted, joined, percent, sentence};

const MAX_NAMED: usize = 3;
/// Ratio of a change to that of the headline's first metric, from which on it is mentioned too.
const SECOND: f64 = 0.25;
/// Share of transfers acknowledged in full up to which a headline states both scenarios' shares. The smaller of the
/// two shares counts, and they must differ.
const FEW: f64 = 0.5;

/// What a caller adds to an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// Folder with the tables; empty for none.
    pub folder: &'a str,
    /// Whether the answer may suggest options of a command.
    pub commands: bool,
}

pub fn sign_of(one: &Difference) -> &'static str {
    match (one.verdict.kind, one.verdict.sign) {
        (Kind::Better, _) => "\u{2713}",
        (Kind::Worse, _) => "\u{2717}",
        (Kind::Same | Kind::Equal, _) => "=",
        (_, 1) => "\u{2191}",
        (_, -1) => "\u{2193}",
        _ => "?",
    }
}

/// Mark of means that exclude users or replications without a value; else empty.
fn mark_of(one: &Difference) -> &'static str {
    if one.covered < 1.0 { SURVIVORS } else { "" }
}

fn marked(one: &Difference) -> String {
    format!("{} {}", one.metric.label, mark_of(one)).trim_end().to_owned()
}

fn scale(one: &Difference) -> Scale<'_> {
    let largest = one.baseline.mean.abs().max(one.other.mean.abs());
    scale_of(largest, Unit::new(&one.metric.unit, one.metric.percent))
}

/// Means of the baseline and of the other scenario, in one unit.
fn means_of(one: &Difference) -> [Shown; 2] {
    let unit = Unit::from("").with_scale(scale(one));
    [&one.baseline, &one.other].map(|each| shown(each.mean, each.low, each.high, unit).marked(mark_of(one)))
}

/// Difference in the unit of the means.
fn difference_of(one: &Difference) -> Shown {
    let (unit, factor) = scale(one);
    let unit = Unit::from("").with_scale((if unit == "%" { "points" } else { unit }, factor));
    let gap = &one.difference;
    digits::difference(gap.mean, gap.low, gap.high, unit).marked(mark_of(one))
}

fn level(confidence: f64) -> String {
    format!("{} %", general(100.0 * confidence, 4))
}

/// Clause with the number of further replications that would decide a verdict.
fn more_text(MoreRuns { low, high }: MoreRuns) -> String {
    if low.is_infinite() {
        return "no number of replications that can be named would decide".to_owned();
    }
    let more = format!("{} more", counted(low as usize, "replication"));
    if high.is_infinite() {
        return format!(
            "{more} would decide if the difference is about as large as here; if there is none, no number that can \
             be named would"
        );
    }
    if low < high || high < low {
        return format!("{low:.0} to {high:.0} replications more would decide");
    }
    format!("{more} would decide")
}

/// Answers about each scenario but the baseline, with the causes of its difference if these are known.
pub fn answers(found: &Comparison, causes: &[Bars], asked: Asked) -> Vec<Answer> {
    let each = found.tried.iter().enumerate();
    each.map(|(at, tried)| Builder::new(found, tried, asked).answer(causes.get(at))).collect()
}

/// Differences in the rows of the main table of an answer.
pub fn shown_of<'a>(found: &'a Comparison, tried: &'a Tried) -> Vec<&'a Difference> {
    Builder::new(found, tried, Asked::default()).shown()
}

fn is_in(one: &Difference, some: &[&Difference]) -> bool {
    some.iter().any(|each| ptr::eq(*each, one))
}

/// Whether a note lists such metrics together, instead of rows of the table.
fn is_quiet(one: &Difference) -> bool {
    matches!(one.verdict.kind, Kind::Same | Kind::Equal)
}

fn is_decided(one: &Difference) -> bool {
    matches!(one.verdict.kind, Kind::Better | Kind::Worse)
}

struct Builder<'a> {
    found: &'a Comparison,
    tried: &'a Tried,
    asked: Asked<'a>,
    /// Differences of the group of all users; if it has none, those of all groups.
    of_all: Vec<&'a Difference>,
    /// Those in key metrics first, in their order, then all others.
    ordered: Vec<&'a Difference>,
    main: Option<&'a Difference>,
    /// Metric that the headline begins with: better or worse.
    first: Option<&'a Difference>,
}

impl<'a> Builder<'a> {
    fn new(found: &'a Comparison, tried: &'a Tried, asked: Asked<'a>) -> Self {
        let mut of_all: Vec<_> = tried.differences.iter().filter(|one| one.group == ALL).collect();
        if of_all.is_empty() {
            of_all = tried.differences.iter().collect();
        }
        // What the cell delivers of uploads is only their ACKs.
        if found.is_upload && of_all.iter().any(|one| one.metric.name != "cell_bps") {
            of_all.retain(|one| one.metric.name != "cell_bps");
        }
        let place = |one: &&Difference| {
            let (place, line) = line_of(&one.metric.name);
            if line.is_key { place } else { usize::MAX }
        };
        let mut ordered = of_all.clone();
        ordered.sort_by_key(place);
        let candidates = of_all.iter().rev().filter(|one| !line_of(&one.metric.name).1.says.is_empty());
        let main = candidates.min_by_key(|one| line_of(&one.metric.name).0).copied();
        let mut decided = ordered.iter().copied().filter(|one| is_decided(one));
        let first = main.filter(|one| is_decided(one)).or_else(|| {
            let least = decided.clone().find(|one| one.change() > found.margin);
            least.or_else(|| decided.next())
        });
        Self { found, tried, asked, of_all, ordered, main, first }
    }

    /// The causes are included only if the main metric is better or worse.
    fn answer(&self, causes: Option<&Bars>) -> Answer {
        let shown = self.shown();
        let is_decided = self.main.is_some_and(is_decided);
        let everything: Vec<_> = self.tried.differences.iter().collect();
        Answer {
            command: "nodeb compare".to_owned(),
            headline: self.headline(),
            lead: self.about(),
            table: (!shown.is_empty()).then(|| self.table(&shown, "", false)),
            after: causes.filter(|_| is_decided).cloned(),
            marks: self.marks(&shown),
            notes: self.notes(&shown),
            everything: vec![self.table(&everything, "All metrics, with ratios", true)],
            folded: if self.asked.folder.is_empty() { "" } else { "all metrics, with ratios" }.to_owned(),
            ..Answer::default()
        }
    }

    /// A metric with the verdict `equal` or `same` has a row only if it is the main metric. If all metrics have one
    /// of these verdicts, there are no rows.
    fn shown(&self) -> Vec<&'a Difference> {
        let mut differ = self.ordered.iter().copied().filter(|one| !is_quiet(one)).peekable();
        if differ.peek().is_none() {
            return Vec::new();
        }
        let mut rows = self.named();
        let more = differ.filter(|one| line_of(&one.metric.name).1.is_key || one.verdict.sign != 0);
        let rest: Vec<_> = more.filter(|one| !is_in(one, &rows)).take(MAX_ROWS - rows.len()).collect();
        rows.extend(rest);
        self.ordered.iter().copied().filter(|one| is_in(one, &rows)).collect()
    }

    /// Metrics that the headline mentions; not valid for the headline of [`Self::finish`].
    fn named(&self) -> Vec<&'a Difference> {
        let mut named: Vec<&Difference> = Vec::new();
        for one in [self.main, self.first, self.opposite()].into_iter().flatten() {
            if !is_in(one, &named) {
                named.push(one);
            }
        }
        named
    }

    /// `None` if all such changes are within the margin, or small beside that of `first`.
    fn opposite(&self) -> Option<&'a Difference> {
        let first = self.first?;
        let least = self.found.margin.max(SECOND * first.change());
        let kind = if first.verdict.kind == Kind::Better { Kind::Worse } else { Kind::Better };
        let mut others = self.ordered.iter().copied().filter(|one| one.verdict.kind == kind);
        others.find(|one| least < one.change() && one.change().is_finite())
    }

    fn headline(&self) -> String {
        let (name, baseline) = (&self.tried.name, &self.found.baseline);
        let is = |kind| self.main.filter(|one| one.verdict.kind == kind);
        if self.tried.differences.is_empty() {
            return format!("{name} and {baseline} have no metric in common that has a value.");
        }
        if self.tried.empty.len() > 1 {
            return format!(
                "There is nothing to compare: nothing arrived with {name}, and nothing with {baseline}."
            );
        }
        let equal = || {
            format!(
                "{} {}",
                self.no_difference(&format!(", in each of the {}.", self.pairs())),
                self.unseen()
            )
        };
        if self.of_all.iter().all(|one| one.verdict.kind == Kind::Equal) {
            return equal();
        }
        if let Some(finish) = self.finish() {
            return finish;
        }
        if let Some(first) = self.first {
            let is_main = self.main.is_some_and(|main| ptr::eq(main, first));
            let text = if is_main { self.of_main(first) } else { self.of_other(first) };
            return format!("{text}{}", self.but());
        }
        if is(Kind::Equal).is_some() {
            return equal();
        }
        if is(Kind::Same).is_some() {
            return self.no_difference(&format!(", to within {}.", percent(self.found.margin)));
        }
        match self.main {
            Some(main) if main.verdict.sign != 0 => self.of_main(main),
            Some(main) => self.undecided(main),
            None => {
                let differs = self.ordered.iter().find(|one| one.verdict.sign != 0);
                differs.map_or_else(|| self.undecided(self.of_all[0]), |one| self.of_other(one))
            }
        }
    }

    /// Sentence on unequal shares of transfers that were acknowledged in full, if one of them is at most [`FEW`].
    fn finish(&self) -> Option<String> {
        let complete = self.of_all.iter().find(|one| one.metric.name == "complete")?;
        if complete.verdict.sign == 0 || complete.other.mean.min(complete.baseline.mean) > FEW {
            return None;
        }
        let [before, now] = means_of(complete).map(|one| one.value());
        let (name, baseline) = (&self.tried.name, &self.found.baseline);
        Some(format!(
            "Unequal shares of the transfers were acknowledged in full: {now} with {name}, {before} with {baseline}."
        ))
    }

    fn called(&self, one: &Difference) -> String {
        let noun = line_of(&one.metric.name).1.noun;
        let noun = if noun.is_empty() { format!("the {}", one.metric.label) } else { noun.to_owned() };
        format!("{} {}", self.fitted(&noun), mark_of(one)).trim_end().to_owned()
    }

    /// Text about downloads, changed to one about uploads if there are only those.
    fn fitted(&self, text: &str) -> String {
        if self.found.is_upload {
            text.replace("download", "upload").replace("receive", "send")
        } else {
            text.to_owned()
        }
    }

    fn pairs(&self) -> String {
        counted(self.found.runs, "pair")
    }

    fn about(&self) -> String {
        let (pairs, seed) = (sentence(&self.pairs()), self.found.seed);
        format!("{pairs} with the same random numbers, seed {seed}.")
    }

    /// Sentence on rare effects, for a comparison in which all n pairs are equal.
    ///
    /// It states the largest share of all possible pairs that may differ. If a larger share did, the probability of n
    /// equal pairs would be below 5 %.
    fn unseen(&self) -> String {
        let share = percent(1.0 - 0.05_f64.powf(1.0 / self.found.runs.max(1) as f64));
        format!("Rarer effects can be unseen: up to {share} of pairs may differ (95 %).")
    }

    /// Difference in per cent of the baseline's mean, such as `20 % more`; the absolute difference if that mean is not
    /// above 0, or the ratio is not finite.
    fn relative(&self, one: &Difference) -> String {
        let ratio = &one.ratio;
        if !(ratio.mean.is_finite() && one.baseline.mean > 0.0) {
            return difference_of(one).with_interval();
        }
        let (sign, word) = if ratio.mean >= 1.0 { (1.0, "more") } else { (-1.0, "less") };
        let [mean, low, high] = [ratio.mean, ratio.low, ratio.high].map(|end| sign * 100.0 * (end - 1.0));
        let (low, mut high) = (low.min(high), low.max(high));
        if sign < 0.0 && one.metric.low == 0.0 && high > 100.0 {
            high = 100.0; // A metric that is never negative falls by at most 100 %.
        }
        let found = shown(mean, low, high, Unit::from("").with_scale(("%", 1.0)));
        let value = found.value();
        if found.low.is_empty() {
            return format!("{value} {word}");
        }
        let confidence = level(self.found.confidence());
        format!("{value} {word} ({confidence}: {} to {} %)", found.low, found.high)
    }

    /// [`Self::relative`], and the share that has a value if not all have one.
    fn relative_of(&self, one: &Difference) -> String {
        format!("{}{}", self.relative(one), of_covered(one))
    }

    fn no_difference(&self, end: &str) -> String {
        let (name, baseline) = (&self.tried.name, &self.found.baseline);
        let Some(main) = self.main else {
            return format!("No difference between {name} and {baseline}{end}");
        };
        let [value, _] = means_of(main).map(|one| one.value());
        format!("No difference: with {name} {} {value}, as with {baseline}{end}", self.says(main))
    }

    fn says(&self, main: &Difference) -> String {
        self.fitted(line_of(&main.metric.name).1.says)
    }

    fn of_main(&self, main: &Difference) -> String {
        let [before, now] = means_of(main).map(|one| one.value());
        let (verdict, says) = (self.verdict(main), self.says(main));
        format!("{verdict}: {says} {now} instead of {before}, {}.", self.relative_of(main))
    }

    /// Sentence on a metric that differs, and on the main metric, which does not.
    fn of_other(&self, one: &Difference) -> String {
        let text = format!("{}: {} is {}", self.verdict(one), self.called(one), self.relative_of(one));
        let Some(main) = self.main else { return format!("{text}.") };
        let called = self.called(main);
        if is_quiet(main) {
            return format!("{text}; {called}{} is the same.", of_covered(main));
        }
        if main.verdict.sign != 0 {
            return format!("{text}; {called} is {}.", self.relative(main));
        }
        format!("{text}; whether {called} differs is undecided.")
    }

    fn verdict(&self, one: &Difference) -> String {
        let is_time = line_of(&one.metric.name).1.quantity == Quantity::Time;
        let word = match one.verdict.kind {
            Kind::Differs => "differs from".to_owned(),
            Kind::Better if is_time => "is faster than".to_owned(),
            Kind::Worse if is_time => "is slower than".to_owned(),
            kind => format!("is {} than", kind.name()),
        };
        format!("{} {word} {}", self.tried.name, self.found.baseline)
    }

    fn but(&self) -> String {
        let opposite = self.opposite();
        opposite.map_or_else(String::new, |one| {
            format!(" But {} is {}.", self.called(one), self.relative_of(one))
        })
    }

    fn undecided(&self, one: &Difference) -> String {
        let gap = difference_of(one);
        let (value, interval) = (gap.value(), gap.interval());
        let how = if interval.is_empty() {
            interval
        } else {
            format!(" ({}: {interval})", level(self.found.confidence()))
        };
        let (name, baseline) = (&self.tried.name, &self.found.baseline);
        let what =
            format!("Undecided: with {name}, {} differs by {value}{how} from {baseline}", self.called(one));
        if self.found.runs < 2 {
            return format!("{what}; one pair says nothing of how sure that is.");
        }
        format!("{what}; {}.", more_text(one.verdict.more_runs))
    }

    fn table(&self, rows: &[&Difference], title: &str, everything: bool) -> Rows {
        let has_groups = everything && rows.iter().any(|one| one.group != ALL);
        let confidence = format!("difference ({})", level(self.found.confidence()));
        let mut head =
            vec!["metric".to_owned(), self.found.baseline.clone(), self.tried.name.clone(), confidence];
        if everything {
            head.push("ratio".to_owned());
        }
        let row = |one: &&Difference| {
            let group = if has_groups { format!(", {}", one.group) } else { String::new() };
            let [before, after] = means_of(one).map(|each| each.number);
            let mut cells = vec![format!("{} {}{group}", sign_of(one), marked(one)), before, after];
            cells.push(difference_of(one).in_one_cell());
            if everything {
                cells.push(shown(one.ratio.mean, one.ratio.low, one.ratio.high, "").in_one_cell());
            }
            cells.into_iter().map(Cell::Text).collect()
        };
        Rows { head, rows: rows.iter().map(row).collect(), title: title.to_owned(), right: Vec::new() }
    }

    /// Marks on excluded users, missing values, empty scenarios, uploads and groups.
    fn marks(&self, shown: &[&Difference]) -> Vec<Mark> {
        let is_visible = |one: &Difference| is_in(one, &self.of_all) && (is_in(one, shown) || is_quiet(one));
        let rest: Vec<_> = self.tried.differences.iter().filter(|one| !is_visible(one)).collect();
        let visible: Vec<_> = self.of_all.iter().copied().filter(|one| is_visible(one)).collect();
        let mut marks = Vec::new();
        for (rows, folded) in [(visible, false), (rest, true)] {
            let label = |one: &Difference| {
                let group =
                    if is_in(one, &self.of_all) { String::new() } else { format!(" ({})", one.group) };
                format!("{}{group}", one.metric.label)
            };
            for text in left_out(rows.iter().map(|one| (label(one), &one.metric, one.covered))) {
                let text = format!("{}, in the scenario with fewer.", text.trim_end_matches('.'));
                marks.push(Mark::survivors(text, folded));
            }
        }
        if !self.tried.unknown.is_empty() {
            marks.push(Mark::warning(format!(
                "Of {} one of the two has no value at all.",
                joined(&self.tried.unknown, "and")
            )));
        }
        if !self.tried.empty.is_empty() {
            let why = no_arrival_hint(self.found.duration_s, self.asked.commands);
            marks.push(Mark::warning(format!(
                "Nothing arrived with {}; {why}",
                joined(&self.tried.empty, "and")
            )));
        }
        marks.extend(self.uploads().map(Mark::warning));
        for (name, groups) in self.tried.only.iter().filter(|(_, groups)| !groups.is_empty()) {
            let (which, are) = if groups.len() > 1 { ("groups", "are") } else { ("group", "is") };
            let listed = joined(groups, "and");
            marks.push(Mark::warning(format!("Only {name} has the {which} {listed}, which {are} left out.")));
        }
        marks
    }

    /// Sentence on the metrics in which uploads beside downloads differ.
    fn uploads(&self) -> Option<String> {
        let uploads: Vec<_> = self.tried.differences.iter().filter(|one| one.group == ALL_UP).collect();
        let differ = uploads.iter().filter(|one| one.verdict.sign != 0);
        let mut labels: Vec<_> = differ.map(|one| one.metric.label.to_string()).collect();
        if labels.is_empty() || is_in(uploads[0], &self.of_all) {
            return None;
        }
        if labels.len() > MAX_NAMED {
            labels.truncate(MAX_NAMED);
            labels.push("other metrics".to_owned());
        }
        let how = if self.asked.commands { "; --all shows them" } else { "" };
        Some(format!("These are the downloads. The uploads differ in: {}{how}.", joined(&labels, "and")))
    }

    /// Notes: meaning of signs, undecided, same and equal metrics, and provenance.
    fn notes(&self, shown: &[&Difference]) -> Vec<String> {
        let mut notes = Vec::new();
        let words = [
            (Kind::Better, "\u{2713} better"),
            (Kind::Worse, "\u{2717} worse"),
            (Kind::Differs, "\u{2191}\u{2193} differs, neither is better"),
        ];
        let has = |kind| shown.iter().any(|one| one.verdict.kind == kind);
        let legend: Vec<_> = words.iter().filter(|(kind, _)| has(*kind)).map(|(_, word)| *word).collect();
        if !legend.is_empty() {
            notes.push(legend.join("  "));
        }
        let open: Vec<_> = shown.iter().copied().filter(|one| one.verdict.kind == Kind::Undecided).collect();
        if !open.is_empty() && self.found.runs >= 2 {
            let one = self.main.filter(|main| is_in(main, &open)).unwrap_or(open[0]);
            notes.push(format!(
                "? undecided: for {}, {}.",
                self.called(one),
                more_text(one.verdict.more_runs)
            ));
        }
        for (kind, how) in [
            (Kind::Same, format!("Same within {}", percent(self.found.margin))),
            (Kind::Equal, format!("Equal in all {}", self.pairs())),
        ] {
            let names: Vec<_> =
                self.of_all.iter().filter(|one| one.verdict.kind == kind).map(|one| marked(one)).collect();
            if !names.is_empty() {
                notes.push(format!("{how}: {}.", joined(&names, "and")));
            }
        }
        let folder = self.asked.folder;
        let place = if folder.is_empty() { String::new() } else { format!(" {folder} has the tables.") };
        notes.push(format!("{}{place}", self.about()));
        let number = self.found.tried.len();
        if number > 1 {
            notes.push(format!(
                "{number} scenarios are compared: each interval holds with {}, so that all of a metric hold together \
                 with 95 %.",
                level(self.found.confidence())
            ));
        }
        notes
    }
}

fn of_covered(one: &Difference) -> String {
    if one.covered < 1.0 {
        format!(" (of the {} that have one)", percent(one.covered))
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{MARGIN, difference};
    use crate::metrics::{Better, Formula, Metric};
    use crate::stats::CONFIDENCE;

    fn metric(name: &'static str, better: Better) -> Metric {
        Metric {
            name: name.into(),
            unit: "s".into(),
            meaning: "".into(),
            label: name.into(),
            formula: Formula::Own,
            better,
            low: 0.0,
            high: f64::INFINITY,
            percent: false,
            can_fail: false,
            column: None,
            completed: false,
        }
    }

    /// Headline of a comparison of 20 replications, in which the metrics change by a share, give or take 0.1 %.
    fn headline(changes: &[(&'static str, Better, f64)], margin: f64) -> String {
        let base: Vec<f64> = (0..20).map(|run| 100.0 + f64::from(7 * run % 5)).collect();
        let shifted = |&(name, better, change): &(&'static str, Better, f64)| {
            let own = base.iter().zip([1.001, 0.999].iter().cycle());
            let own: Vec<f64> = own.map(|(value, noise)| value * (1.0 + change * noise)).collect();
            let durations_s = (f64::INFINITY, f64::INFINITY);
            difference((ALL, &metric(name, better)), (&base, &own), margin, CONFIDENCE, durations_s)
        };
        let tried = Tried {
            name: "new".to_owned(),
            differences: changes.iter().filter_map(shifted).collect(),
            unknown: Vec::new(),
            only: Vec::new(),
            empty: Vec::new(),
        };
        let (baseline, tried) = ("old".to_owned(), vec![tried]);
        let found =
            Comparison { baseline, tried, runs: 20, seed: 1, margin, duration_s: 9.0, is_upload: false };
        answers(&found, &[], Asked::default()).remove(0).headline
    }

    #[test]
    fn opposite_changes_are_mentioned_unless_they_are_small_against_the_first() {
        use Better::Less;
        let of = |other| headline(&[("download_s", Less, -0.4), ("rtt_mean_s", Less, other)], MARGIN);
        assert!(
            of(0.2).starts_with("new is faster than old: the download takes 61.2 s instead of 102.0 s, ")
        );
        assert!(of(0.2).contains(" But the round-trip time is 20.000 % more (95 %: "));
        assert!(!of(0.09).contains("But"));
        assert!(!of(-0.2).contains("But"));
    }

    #[test]
    fn equal_pairs_do_not_exclude_rare_differences() {
        let text = headline(&[("download_s", Better::Less, 0.0)], MARGIN);
        assert!(text.ends_with(
            "in each of the 20 pairs. Rarer effects can be unseen: up to 14 % of pairs may differ (95 %)."
        ));
    }

    #[test]
    fn numbers_of_replications_may_be_unknown() {
        let text = |low, high| more_text(MoreRuns { low, high });
        assert_eq!(text(1.0, 1.0), "1 replication more would decide");
        assert_eq!(text(3.0, 40.0), "3 to 40 replications more would decide");
        assert!(text(3.0, f64::INFINITY).ends_with("if there is none, no number that can be named would"));
        assert!(text(f64::INFINITY, f64::INFINITY).starts_with("no number of replications"));
    }
}
