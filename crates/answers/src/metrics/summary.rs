use super::{Group, Metric};
use crate::stats::{CONFIDENCE, Interval, mean_interval};
use crate::words::{joined, percent};

/// Row of a summary: the mean of a metric in a group of users.
#[derive(Clone, Debug)]
pub struct Row {
    pub group: String,
    pub metric: String,
    pub unit: String,
    pub mean: f64,
    /// Ends of the interval, cut at the bounds of the metric.
    pub low: f64,
    pub high: f64,
    pub stdev: f64,
    /// Number of replications that have a value.
    pub runs: usize,
    /// Share of the users that have a value; of replications, if the metric is not a mean over users.
    pub covered: f64,
}

impl Row {
    fn new(group: &Group<'_>, metric: &Metric, mean: Interval, covered: f64) -> Self {
        let Interval { mean, low, high, stdev, n: runs } = mean;
        let (group, unit) = (group.name.clone(), metric.unit.to_string());
        Self { group, metric: metric.name.to_string(), unit, mean, low, high, stdev, runs, covered }
    }
}

/// A row per group of users and metric that has a value or can fail.
pub fn summarize(groups: &[Group<'_>], metrics: &[Metric], duration_s: f64) -> Vec<Row> {
    let mut rows = vec![Vec::new(); groups.len()];
    for metric in metrics {
        let each = groups.iter().zip(metric.by_group(groups).into_iter().flatten());
        for ((group, values), rows) in each.zip(&mut rows) {
            rows.extend(row(group, metric, &values, duration_s));
        }
    }
    rows.concat()
}

fn row(group: &Group<'_>, metric: &Metric, values: &[f64], duration_s: f64) -> Option<Row> {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    if finite.is_empty() {
        let can_fail = metric.can_fail && !values.is_empty();
        return can_fail.then(|| Row::new(group, metric, Interval::NONE, 0.0));
    }
    let mean = metric.within(mean_interval(&finite, CONFIDENCE), duration_s);
    Some(Row::new(group, metric, mean, coverage(metric, group, values)))
}

/// Share of the users that have a value, or of replications; below 1, the mean excludes those that lack one.
pub fn coverage(metric: &Metric, group: &Group<'_>, values: &[f64]) -> f64 {
    let existing = existing(metric, group, values);
    let count = existing.iter().filter(|(has, _)| *has).count();
    if existing.is_empty() { 1.0 } else { count as f64 / existing.len() as f64 }
}

pub fn coverage_by_run(metric: &Metric, group: &Group<'_>, values: &[f64]) -> Vec<f64> {
    let mut counts = vec![(0.0, 0.0); group.runs.len()];
    for (has, at) in existing(metric, group, values) {
        let (with, all) = &mut counts[at as usize];
        *with += f64::from(u8::from(has));
        *all += 1.0;
    }
    counts.into_iter().map(|(with, all)| if all > 0.0 { with / all } else { 1.0 }).collect()
}

/// Whether there is a value, and the place of the replication, for each user or replication that should have one.
fn existing(metric: &Metric, group: &Group<'_>, values: &[f64]) -> Vec<(bool, u32)> {
    let Some((table, column)) = &metric.column else {
        return values.iter().map(|value| value.is_finite()).zip(0..).collect();
    };
    let has = group.column(table, column);
    let rows = group.rows(table);
    let all = has.iter().map(|value| value.is_finite()).zip(rows.at.iter().copied());
    if !metric.completed {
        return all.collect();
    }
    let endless = group.column("flows", "endless");
    all.zip(&*endless).filter(|((has, _), endless)| *has || **endless == 0.0).map(|(one, _)| one).collect()
}

/// Phrase for the items that a metric's mean covers, as in "transfers that finished".
pub fn of_whom(metric: &Metric) -> &'static str {
    match &metric.column {
        None => "replications that have a value",
        Some(_) if !metric.completed => "phones that have a value",
        Some((_, column)) if column == "download_s" => "transfers that finished",
        Some(_) => "phones with a transfer acknowledged in full",
    }
}

/// Values by key, in order of the keys' first use.
type Ordered<K, V> = Vec<(K, V)>;
/// Labels of metrics, by the share that has a value.
type Shares = Ordered<String, Vec<String>>;

/// Sentences on means that exclude some replications, phones or transfers, from labels, metrics and coverages.
pub fn left_out<'a>(covered: impl IntoIterator<Item = (String, &'a Metric, f64)>) -> Vec<String> {
    let mut kinds: Ordered<&str, Shares> = Vec::new();
    for (label, metric, share) in covered.into_iter().filter(|(_, _, share)| *share < 1.0) {
        entry(entry(&mut kinds, of_whom(metric)), percent(share)).push(label);
    }
    let part = |(share, labels): (String, Vec<String>)| format!("{share} for {}", joined(&labels, "and"));
    let sentence = |(who, shares): (&str, Shares)| {
        let each: Vec<_> = shares.into_iter().map(part).collect();
        format!("Only of {who}: {}.", each.join("; "))
    };
    kinds.into_iter().map(sentence).collect()
}

fn entry<K: PartialEq, V: Default>(values: &mut Ordered<K, V>, key: K) -> &mut V {
    let place = values.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
        values.push((key, V::default()));
        values.len() - 1
    });
    &mut values[place].1
}

#[cfg(test)]
mod tests {
    use nodeb_base::table::{Column, Table, Values};

    use super::super::{ALL, registry};
    use super::*;

    fn table(name: &'static str, columns: &[(&'static str, &[f64])]) -> Table {
        let column = |&(name, values): &(&'static str, &[f64])| Column {
            name,
            unit: "",
            meaning: "",
            values: Values::F64(values.to_vec()),
        };
        Table { name, meaning: "", columns: columns.iter().map(column).collect() }
    }

    #[test]
    fn shares_refer_to_users_that_should_have_a_value() {
        let nan = f64::NAN;
        let flows = table(
            "flows",
            &[
                ("run", &[0.0, 0.0, 1.0, 1.0]),
                ("user", &[0.0, 1.0, 0.0, 1.0]),
                ("endless", &[0.0, 1.0, 0.0, 1.0]),
                ("download_s", &[1.0, nan, nan, nan]),
            ],
        );
        let tables = &[flows][..];
        let group = Group::new(&tables, ALL);
        let metrics = registry::lines();
        let named = |name| metrics.iter().find(|metric| metric.name == name).expect("a metric");
        let (times, fairness) = (named("download_s"), named("jain_index"));
        let values = times.values(&group).expect("users have times");
        assert_eq!(coverage(times, &group, &values), 0.5);
        assert_eq!(coverage_by_run(times, &group, &values), [1.0, 0.0]);
        assert_eq!(coverage_by_run(fairness, &group, &[1.0, nan]), [1.0, 0.0]);
    }

    #[test]
    fn means_of_survivors_are_grouped_by_what_they_exclude() {
        let metrics = registry::lines();
        let covered = ["download_s", "transfer_s", "received_bps", "rtt_mean_s", "application_bps"]
            .into_iter()
            .zip([0.5, 0.5, 1.0, 0.25, 0.75])
            .filter_map(|(name, share)| {
                Some((name.to_owned(), metrics.iter().find(|one| one.name == name)?, share))
            });
        assert_eq!(
            left_out(covered),
            [
                "Only of transfers that finished: 50 % for download_s.",
                "Only of phones with a transfer acknowledged in full: 50 % for transfer_s; 75 % for application_bps.",
                "Only of phones that have a value: 25 % for rtt_mean_s.",
            ]
        );
    }
}
