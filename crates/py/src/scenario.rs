//! Scenarios as Python objects. Reading and checking happen once per scenario, which can then be
//! simulated many times.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nodeb_base::table::{Table, join};
use nodeb_base::units::Probability;
use nodeb_capture::{Interface, Options};
use nodeb_sim::metrics::RunResult;
use nodeb_sim::scenario::{Connection, Recorded, Spot};
use nodeb_sim::{Scenario, scenario};
use nodeb_tcp::classic::EraLine;
use numpy::{Element, PyReadonlyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::explain::Remedy;
use crate::errors::{ScenarioError, guarded, to_py};
use crate::tables;

/// The results of more would not fit the processor's cache.
const BATCH: usize = 16;

/// Object that runs share with another thread, which uses it to follow their progress and to cancel
/// them.
#[pyclass(module = "nodeb._core", frozen)]
#[derive(Default)]
pub struct Control {
    inner: nodeb_sim::Control,
    done: AtomicU64,
    of: AtomicU64,
}

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn cancel(&self) {
        self.inner.cancel();
    }

    /// Returns the finished fraction of the run or of the batch of runs, from 0 to 1.
    fn progress(&self) -> f64 {
        let of = self.of.load(Ordering::Relaxed).max(1);
        ((self.done.load(Ordering::Relaxed) as f64 + self.inner.progress()) / of as f64).min(1.0)
    }
}

/// Scenario that has been read and checked, and can be simulated.
#[pyclass(module = "nodeb._core", frozen)]
pub struct CompiledScenario {
    scenario: Arc<Scenario>,
    label: String,
    recorded: Vec<Spot>,
    /// `None` for a scenario without a file.
    origin: Option<Arc<Origin>>,
}

/// Text and name of a scenario file, and the overrides with which it was read.
struct Origin {
    text: String,
    file: String,
    overrides: Vec<String>,
}

impl Control {
    pub fn inner(&self) -> &nodeb_sim::Control {
        &self.inner
    }
}

#[pymethods]
impl CompiledScenario {
    /// Reads a scenario in JSON. `label` is the name of the scenario in messages, by default its
    /// key `name`. `recorded` has the lists of recordings, each with its position: the number of
    /// its user group, or `down` or `up` of `radio.trace`. `file` is the same scenario as read from
    /// its file, if it has one, so that messages can name lines of the file.
    #[staticmethod]
    #[pyo3(signature = (json, label=None, recorded=Vec::new(), file=None))]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from a Python list")]
    fn from_json(
        py: Python<'_>,
        json: &str,
        label: Option<String>,
        recorded: Vec<(SpotName, Bound<'_, PyDict>)>,
        file: Option<&Bound<'_, Self>>,
    ) -> PyResult<Self> {
        let lists = recorded.iter().map(|(name, lists)| Ok((name.spot()?, recording(lists)?)));
        let lists = lists.collect::<PyResult<Vec<_>>>()?;
        let spots = lists.iter().map(|(spot, _)| *spot).collect();
        let read = || guarded(|| "reading a scenario".to_owned(), || scenario::from_json_with(json, lists));
        let scenario = py.detach(read)?.map_err(|error| to_py(&error))?;
        let label = label.unwrap_or_else(|| format!("scenario `{}`", scenario.name));
        let origin = file.and_then(|file| file.get().origin.clone());
        Ok(Self { scenario: Arc::new(scenario), label, recorded: spots, origin })
    }

    #[staticmethod]
    fn from_toml(py: Python<'_>, text: String, file: String, overrides: Vec<String>) -> PyResult<Self> {
        let read = || guarded(|| format!("reading {file}"), || scenario::from_toml(&text, &file, &overrides));
        let scenario = py.detach(read)?.map_err(|error| to_py(&error))?;
        let label = format!("scenario `{}`", scenario.name);
        let origin = Some(Arc::new(Origin { text, file, overrides }));
        Ok(Self { scenario: Arc::new(scenario), label, recorded: Vec::new(), origin })
    }

    /// Returns a copy of the scenario in which the keys at the dotted paths in `without` have their
    /// defaults, and then the overrides `key.path=value` apply. Files named by the scenario are not
    /// read again.
    #[pyo3(signature = (overrides, without=Vec::new()))]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from a Python list")]
    fn with_overrides(&self, py: Python<'_>, overrides: Vec<String>, without: Vec<String>) -> PyResult<Self> {
        let read = || {
            let base = self.without_keys(&without)?;
            let text = scenario::to_toml(&base.without(&self.recorded))?;
            let mut changed = scenario::from_toml(&text, "scenario", &overrides)?;
            changed.take_recorded(&base);
            changed.attach(Vec::new())?;
            Ok(changed)
        };
        let changed = guarded(|| format!("changing {}", self.label), || py.detach(read))?;
        self.changed(changed)
    }

    /// Returns a copy of the scenario with another number of replications, precision or seed;
    /// `None` keeps a value. If `runs` is given without `precision`, the copy has no precision.
    #[pyo3(signature = (runs=None, precision=None, seed=None))]
    fn planned(&self, runs: Option<u32>, precision: Option<f64>, seed: Option<u64>) -> PyResult<Self> {
        let mut planned = Scenario::clone(&self.scenario);
        if let Some(runs) = runs {
            planned.runs = NonZeroU32::new(runs).ok_or_else(|| PyValueError::new_err("runs is 0"))?;
            planned.precision = None;
        }
        planned.precision = precision.map(Probability).or(planned.precision);
        planned.seed = seed.unwrap_or(planned.seed);
        let checked = guarded(|| format!("changing {}", self.label), || planned.attach(Vec::new()))?;
        self.changed(checked.map(|()| planned))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    #[getter]
    fn runs(&self) -> u32 {
        self.scenario.runs.get()
    }

    /// Half-width of the confidence interval to reach, relative to the mean;
    #[getter]
    fn precision(&self) -> Option<f64> {
        self.scenario.precision.map(|share| share.0)
    }

    /// Maximum number of replications, which applies only if the scenario sets a precision.
    #[getter]
    fn max_runs(&self) -> u32 {
        self.scenario.max_runs.get()
    }

    #[getter]
    fn connections(&self) -> Vec<(String, u32, &'static str)> {
        let connections = self.scenario.connections();
        let describe =
            |of: &Connection| (self.scenario.group_name(of).into_owned(), of.phone, of.direction.name());
        connections.iter().map(describe).collect()
    }

    /// Returns the changes of the scenario that may shorten transfers of a user. Lists of recordings are in
    /// the text of a changed scenario.
    fn remedies(&self, py: Python<'_>, user: usize) -> PyResult<Vec<Remedy>> {
        let connections = self.scenario.connections();
        let phone = connections.get(user).map_or(0, |connection| connection.phone);
        let find = || self.scenario.remedies(phone);
        let remedies = guarded(|| format!("changing {}", self.label), || py.detach(find))?;
        let remedy = |remedy: nodeb_base::remedy::Remedy<Scenario>| {
            let scenario = Self {
                scenario: Arc::new(remedy.part),
                label: self.label.clone(),
                recorded: Vec::new(),
                origin: None,
            };
            Ok(Remedy { change: remedy.change, aims: remedy.aims, scenario: Py::new(py, scenario)? })
        };
        remedies.into_iter().map(remedy).collect()
    }

    /// True if the scenario names a file whose contents have not been read.
    #[getter]
    fn unread(&self) -> bool {
        self.scenario.unread_file().is_some()
    }

    #[getter]
    fn has_sweep(&self) -> bool {
        let Some(origin) = &self.origin else { return false };
        let document = scenario::document(&origin.text, &origin.file).unwrap_or_default();
        serde_json::from_str(&document).is_ok_and(|found: serde_json::Value| found.get("sweep").is_some())
    }

    /// Returns the keys of the scenario file that have no effect and, after the overrides, are set
    /// to their defaults, each as "file:line: key: reason". The list is empty for a scenario
    /// without a file.
    fn superfluous(&self) -> PyResult<Vec<String>> {
        let Some(origin) = &self.origin else { return Ok(Vec::new()) };
        let Origin { text, file, overrides } = &**origin;
        guarded(|| format!("checking {file}"), || scenario::superfluous(text, file, overrides))
    }

    /// Returns the scenario with all defaults as JSON, without the lists of recordings that were passed separately.
    fn to_bare_json(&self) -> PyResult<String> {
        to_json(&self.scenario.without(&self.recorded))
    }

    fn to_json(&self) -> PyResult<String> {
        to_json(&self.scenario)
    }

    fn to_toml(&self) -> PyResult<String> {
        scenario::to_toml(&self.scenario).map_err(|error| to_py(&error))
    }

    fn warnings(&self) -> PyResult<Vec<String>> {
        guarded(|| format!("checking {}", self.label), || self.scenario.warnings())
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        run: u64,
        control: &Bound<'py, Control>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.run_many(py, seed, run, 1, control)
    }

    fn run_many<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        first: u64,
        runs: u64,
        control: &Bound<'py, Control>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let control = control.get();
        let all = || -> PyResult<Vec<Table>> {
            control.of.store(runs, Ordering::Relaxed);
            let (mut tables, mut run, end) = (Vec::new(), first, first.saturating_add(runs));
            while run < end {
                let mut results = Vec::with_capacity(BATCH);
                while run < end && results.len() < BATCH {
                    control.done.store(run - first, Ordering::Relaxed);
                    results.push((run, self.replicate(seed, run, control)?));
                    run += 1;
                }
                let work = || join(&mut tables, RunResult::tables_of(&results, &self.scenario));
                guarded(|| self.about(seed, run - 1), work)?;
            }
            Ok(tables)
        };
        tables::all(py, py.detach(all)?)
    }

    /// Simulates replication number `run` and captures the packets at `interfaces` (at all
    /// interfaces if empty) in the pcapng file `path`. Returns the tables of results. The file has
    /// the first `snap_length` bytes of each packet, or the first 80 bytes if `snap_length` is None,
    /// which is enough for the headers. If `radio` is true, the file also has the packets at the
    /// interfaces of the radio network, and comments on the fates of packets. If a packet is on the
    /// critical path of one of the first 20 transfers of a user in `causes`, its comment lists those
    /// spans of the path that belong to the packet.
    #[pyo3(signature = (
        seed, run, control, path, snap_length=None, interfaces=Vec::new(), radio=false, causes=Vec::new(),
    ))]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn capture<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        run: u64,
        control: &Bound<'py, Control>,
        path: PathBuf,
        snap_length: Option<u32>,
        interfaces: Vec<String>,
        radio: bool,
        causes: Vec<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let control = &control.get().inner;
        let mut options = Options {
            snap_length: snap_length.unwrap_or(nodeb_capture::DEFAULT_SNAP_LENGTH),
            interfaces: interfaces.iter().map(|name| interface(name)).collect::<PyResult<_>>()?,
            radio,
            ..Options::default()
        };
        let captured = || {
            for user in causes {
                let work = || nodeb_explain::PacketComments::of(&self.scenario, seed, run, control, user);
                let comments =
                    guarded(|| self.about(seed, run), work)?.map_err(|error| unexplained(&error))?;
                options.about.push(comments.about);
                options.remarks.extend(comments.packets);
            }
            let work = || nodeb_capture::run(&self.scenario, seed, run, control, &path, options);
            let result = guarded(|| self.about(seed, run), work)?.map_err(|error| match error {
                nodeb_capture::Error::SnapLength(_) | nodeb_capture::Error::NoInterface(..) => {
                    PyValueError::new_err(error.to_string())
                }
                nodeb_capture::Error::File { .. } | nodeb_capture::Error::Recording(_) => {
                    PyOSError::new_err(error.to_string())
                }
                nodeb_capture::Error::Run(error) => to_py(&error),
            })?;
            Ok::<_, PyErr>(result.tables(run, &self.scenario))
        };
        tables::all(py, py.detach(captured)?)
    }

    /// The simulation ends with the transfer, or with the run if the transfer does not end.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        run: u64,
        user: u64,
        transfer: u64,
        control: &Bound<'py, Control>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let control = &control.get().inner;
        let explained = || {
            let work = || nodeb_explain::explain(&self.scenario, seed, run, control, (user, transfer));
            let path = guarded(|| self.about(seed, run), work)?.map_err(|error| unexplained(&error))?;
            Ok::<_, PyErr>((vec![path.transfer(), path.busy()], path.spans()))
        };
        let (tables, spans) = py.detach(explained)?;
        let found = tables::all(py, tables)?;
        found.set_item(spans.name, tables::coded(py, spans)?)?;
        Ok(found)
    }
}

impl CompiledScenario {
    pub fn shared(&self) -> Arc<Scenario> {
        Arc::clone(&self.scenario)
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    fn changed(&self, scenario: nodeb_sim::Result<Scenario>) -> PyResult<Self> {
        let scenario = Arc::new(scenario.map_err(|error| to_py(&error))?);
        let (label, recorded, origin) = (self.label.clone(), self.recorded.clone(), self.origin.clone());
        Ok(Self { scenario, label, recorded, origin })
    }

    fn without_keys(&self, paths: &[String]) -> nodeb_sim::Result<Scenario> {
        if paths.is_empty() {
            return Ok(Scenario::clone(&self.scenario));
        }
        let mut value = serde_json::to_value(&*self.scenario).expect("a scenario has a form in JSON");
        for path in paths {
            let (parents, last) = path.rsplit_once('.').map_or(("", path.as_str()), |split| split);
            let pointer =
                if parents.is_empty() { String::new() } else { format!("/{}", parents.replace('.', "/")) };
            if let Some(table) = value.pointer_mut(&pointer).and_then(serde_json::Value::as_object_mut) {
                table.remove(last);
            }
        }
        scenario::from_json(&value.to_string())
    }

    fn replicate(&self, seed: u64, run: u64, control: &Control) -> PyResult<RunResult> {
        let work = || nodeb_sim::run(&self.scenario, seed, run, &control.inner);
        guarded(|| self.about(seed, run), work)?.map_err(|error| to_py(&error))
    }

    pub fn inner(&self) -> &Scenario {
        &self.scenario
    }

    pub fn about(&self, seed: u64, run: u64) -> String {
        format!("{}, seed {seed}, replication {run}", self.label)
    }
}

/// Position of a recording in a scenario, as passed from Python: the number of a user group, or
/// the key below `radio.trace`, such as `down`.
#[derive(FromPyObject)]
enum SpotName {
    Group(usize),
    Way(String),
}

impl SpotName {
    fn spot(&self) -> PyResult<Spot> {
        match self {
            Self::Group(group) => Ok(Spot::Group(*group)),
            Self::Way(way) => match way.as_str() {
                "down" => Ok(Spot::Down),
                "up" => Ok(Spot::Up),
                "light.down" => Ok(Spot::LightDown),
                "light.up" => Ok(Spot::LightUp),
                other => Err(PyValueError::new_err(format!(
                    "there are no recordings at `{other}`; expected `down`, `up`, `light.down` or `light.up`"
                ))),
            },
        }
    }
}

fn unexplained(error: &nodeb_explain::Error) -> PyErr {
    match error {
        nodeb_explain::Error::Run(error) => to_py(error),
        error => PyValueError::new_err(error.to_string()),
    }
}

fn recording(lists: &Bound<'_, PyDict>) -> PyResult<Recorded> {
    fn list<T: Element + Clone>(lists: &Bound<'_, PyDict>, key: &str) -> PyResult<Vec<T>> {
        let Some(found) = lists.get_item(key)? else {
            return Ok(Vec::new());
        };
        let array: PyReadonlyArray1<'_, T> = found.extract()?;
        Ok(array.as_slice()?.to_vec())
    }
    Ok(Recorded {
        snrs_db: [list(lists, "snrs_db")?, list(lists, "second_db")?, list(lists, "third_db")?],
        cqi: list(lists, "cqi")?,
        rates: list(lists, "rates")?,
        times: list(lists, "times")?,
        bytes: list(lists, "bytes")?,
        times_ms: list(lists, "times_ms")?,
    })
}

fn interface(name: &str) -> PyResult<Interface> {
    let known = Interface::ALL.into_iter().find(|interface| interface.name() == name);
    known.ok_or_else(|| {
        let names = Interface::ALL.map(Interface::name).join(", ");
        PyValueError::new_err(format!("there is no interface `{name}`; expected one of: {names}"))
    })
}

fn to_json(scenario: &Scenario) -> PyResult<String> {
    serde_json::to_string(scenario).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Returns the JSON Schema (draft 2020-12) of a scenario.
#[pyfunction]
pub fn schema() -> String {
    Scenario::schema().to_string()
}

/// Returns every variant of every registry as (kind of component, name, description).
#[pyfunction]
pub fn registry() -> Vec<(&'static str, &'static str, &'static str)> {
    Scenario::registry()
}

/// Returns the name and meaning of every cause to which a critical path attributes time.
#[pyfunction]
pub fn causes() -> Vec<(&'static str, &'static str)> {
    nodeb_explain::Cause::ALL.iter().map(|cause| (cause.name(), cause.meaning().trim_ascii())).collect()
}

/// Returns every default of classic TCP that changed in ns-2. Each entry has the key, ns-2's
/// variable, the day of the change, the defaults before and after that day as JSON, and the
/// meaning.
#[pyfunction]
pub fn era_switches() -> Vec<EraLine> {
    nodeb_tcp::classic::era_switches()
}

/// Checks a scenario given as JSON, and returns it as JSON with every default filled in.
#[pyfunction]
pub fn resolve(py: Python<'_>, json: &str) -> PyResult<String> {
    CompiledScenario::from_json(py, json, None, Vec::new(), None)?.to_json()
}

/// Returns the contents of a TOML text as JSON, with the keys in the order of the text. The contents need not be a
/// valid scenario. `file` is the name of the text in messages.
#[pyfunction]
pub fn document(text: &str, file: &str) -> PyResult<String> {
    guarded(|| format!("reading {file}"), || scenario::document(text, file))?.map_err(|error| to_py(&error))
}

/// Returns the line (from 1) of the key at a path of keys in a TOML text. If this key does not
/// exist, returns the line of the innermost key or list entry on the path that exists. Returns
/// `None` if the text is not TOML or lacks the first key.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a Python list")]
pub fn line_of(text: &str, path: Vec<String>) -> Option<usize> {
    scenario::line_of(text, &path)
}

/// Reads the text of an error model's file. Returns the error model as JSON for the key `errors` of a radio.
#[pyfunction]
pub fn read_error_model(text: &str, file: &str) -> PyResult<String> {
    let read = || nodeb_air::error::file::read(text, file);
    let model = guarded(|| format!("reading {file}"), read)?.map_err(|error| to_py(&error))?;
    serde_json::to_string(&model).map_err(|error| ScenarioError::new_err(error.to_string()))
}
