use super::{Group, Metric};

/// Metrics by replication and group of users, without tables.
#[derive(Clone, Debug)]
pub struct ByRun {
    pub groups: Vec<GroupByRun>,
}

#[derive(Clone, Debug)]
pub struct GroupByRun {
    pub name: String,
    pub runs: Vec<u64>,
    /// Metrics that apply to any group of the tables, each with a value per run, NaN for none.
    pub values: Vec<(String, Vec<f64>)>,
}

impl ByRun {
    pub fn new(groups: &[Group<'_>], metrics: &[Metric]) -> Self {
        let mut all: Vec<GroupByRun> = groups
            .iter()
            .map(|group| GroupByRun {
                name: group.name.clone(),
                runs: group.runs.clone(),
                values: Vec::new(),
            })
            .collect();
        for metric in metrics {
            for (group, values) in all.iter_mut().zip(metric.by_group(groups).into_iter().flatten()) {
                group.values.push((metric.name.to_string(), values));
            }
        }
        Self { groups: all }
    }

    /// Number of replications.
    pub fn runs(&self) -> usize {
        let mut runs: Vec<u64> = self.groups.iter().flat_map(|group| group.runs.iter().copied()).collect();
        runs.sort_unstable();
        runs.dedup();
        runs.len()
    }

    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| &*group.name)
    }

    /// Values of a metric for the group at a place, in the replications below `runs`.
    pub fn of(&self, group: usize, metric: &str, runs: usize) -> Option<&[f64]> {
        let group = self.groups.get(group)?;
        let (_, values) = group.values.iter().find(|(name, _)| name == metric)?;
        Some(&values[..group.runs.partition_point(|run| *run < runs as u64)])
    }
}
