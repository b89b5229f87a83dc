//! Python bindings of nodeb's core. They convert values, release the global interpreter lock and map errors, and
//! have no models of their own.

mod answers;
mod cell;
#[cfg(target_os = "linux")]
mod emulation;
mod errors;
mod lines;
mod link;
#[cfg(target_os = "linux")]
mod recordings;
mod scenario;
mod tables;
mod timeline;
mod wcdma;

use pyo3::prelude::*;

/// Returns the version of the simulation core, which is that of its Rust crates.
#[pyfunction]
fn version() -> &'static str {
    nodeb_sim::VERSION
}

/// Python module with the simulation core of nodeb.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::answers::compare::{
        compare_tables, comparison_answers, judge, metric_difference, shown_differences,
    };
    #[pymodule_export]
    use super::answers::digits::{
        Shown, apportioned, counted, difference, fraction, interval, joined, number, part_percent, parts,
        percent, scale_of, sentence, shown, signed, spelled,
    };
    #[pymodule_export]
    use super::answers::explain::{Pairs, Paths, Remedy, Tried, explain_answer, incomplete};
    #[pymodule_export]
    use super::answers::metrics::{
        Unfinished, built_in_metrics, by_run, coverage, coverage_by_run, group_names, group_rows,
        no_arrival_hint, of_whom, rings, summarize, unfinished,
    };
    #[pymodule_export]
    use super::answers::run::run_answer;
    #[pymodule_export]
    use super::answers::stats::{
        StoppingRule, family_confidence, holm, jackknife, jain_indices, judge_precision, mean_interval,
        paired_difference, prediction_interval, ratio_interval, runs_needed, t_quantile, t_upper_tail,
    };
    #[pymodule_export]
    use super::cell::cell_map;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::emulation::{Emulation, emulation_tables, flight_header, replay_flight};
    #[pymodule_export]
    use super::errors::{Cancelled, InternalError, ScenarioError, fail_on_purpose};
    #[pymodule_export]
    use super::lines::{first_entries, line_of_entry, read_numbers};
    #[pymodule_export]
    use super::link::{LinkError, link_resolve, link_run, link_schema};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::recordings::{flight_connections, flight_explain, flight_packets, flight_timeline};
    #[pymodule_export]
    use super::scenario::{
        CompiledScenario, Control, causes, document, era_switches, line_of, read_error_model, registry,
        resolve, schema,
    };
    #[pymodule_export]
    use super::tables::metrics;
    #[pymodule_export]
    use super::timeline::{timeline, timeline_tables};
    #[pymodule_export]
    use super::version;
    #[pymodule_export]
    use super::wcdma::{
        wcdma_ber, wcdma_check_bits, wcdma_frame, wcdma_mean_factor, wcdma_rates, wcdma_shares, wcdma_sinr,
    };

    #[pymodule_init]
    #[expect(clippy::unnecessary_wraps, reason = "the form that pyo3 asks for")]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::errors::keep_panics_quiet();
        Ok(())
    }
}
