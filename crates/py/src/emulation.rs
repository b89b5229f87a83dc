//! Python functions for emulations between TUN devices, and for replays of recorded emulations. An
//! emulation and a replay each return a report and tables.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use nodeb_base::units::Time;
use nodeb_emu::device_socket::DeviceSocket;
use nodeb_emu::driver::{Limits, drive};
use nodeb_emu::recording::{Reader, Recorder};
use nodeb_emu::report::{CAUSES, DirectionReport, PhoneReport, Report};
use nodeb_emu::series::tables as series;
use nodeb_emu::watch::Watch;
use nodeb_emu::{Error, Exchange, Lateness, Log, Phone};
use nodeb_sim::Scenario;
use nodeb_sim::world::NullListener;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{guarded, to_py};
use crate::recordings;
use crate::scenario::{CompiledScenario, Control};
use crate::tables::{self, About};

/// Emulation that one thread drives, while other threads read its status or stop it.
#[pyclass(module = "nodeb._core", frozen)]
pub struct Emulation {
    device_socket: DeviceSocket,
    watch: Watch,
}

#[pymethods]
impl Emulation {
    #[new]
    fn new() -> PyResult<Self> {
        let device_socket = DeviceSocket::new().map_err(|error| refused(&error))?;
        Ok(Self { device_socket, watch: Watch::new().map_err(|error| refused(&error))? })
    }

    /// Each message has one device and one byte with the device's number: 0 for the server, 1 and above for the phones.
    fn fileno(&self) -> i32 {
        self.device_socket.outside()
    }

    /// A stopped emulation cannot be resumed.
    fn stop(&self) {
        self.watch.stop();
    }

    /// Returns the status that the driver published last as a dict: numbers of packets and bytes so
    /// far, queue lengths, the mean CQI, and delays and lateness in seconds.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let now = self.watch.status();
        let found = PyDict::new(py);
        found.set_item("time_s", now.time_s)?;
        found.set_item("down_packets", now.down_packets)?;
        found.set_item("down_bytes", now.down_bytes)?;
        found.set_item("up_bytes", now.up_bytes)?;
        found.set_item("lost", now.lost)?;
        found.set_item("waiting", now.waiting)?;
        found.set_item("queued_down", now.queued_down)?;
        found.set_item("queued_up", now.queued_up)?;
        found.set_item("cqi", now.cqi)?;
        found.set_item("delays_s", now.delays_s)?;
        found.set_item("late_p99_s", now.late_s)?;
        Ok(found)
    }

    /// Receives the TUN devices through the socket and emulates the scenario until [`Self::stop`] is called or
    /// `duration_s` seconds are over. `log` is the path, the header and the number of kept bytes per packet of a
    /// recording, or `None` to record nothing.
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn drive<'py>(
        &self,
        py: Python<'py>,
        scenario: &CompiledScenario,
        seed: u64,
        phones: Vec<(u32, Vec<IpAddr>)>,
        mtu: usize,
        memory: usize,
        late_s: f64,
        duration_s: Option<f64>,
        log: Option<(PathBuf, Vec<u8>, u16)>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let world: Arc<Scenario> = scenario.shared();
        let phones: Vec<Phone> =
            phones.into_iter().map(|(user, addresses)| Phone { user, addresses }).collect();
        let limits = Limits { duration: duration_s.map(|time| Time((time * 1e9) as u64)) };
        let work = || -> nodeb_emu::Result<_> {
            let mut exchange = Exchange::new(&world, seed, &phones, mtu, memory)?;
            if let Some((path, header, snap)) = &log {
                exchange.record(Recorder::create(path, header, *snap).map_err(Error::Recording)?);
            }
            let devices = self.devices(phones.len() + 1)?;
            let (mut report, result) = drive(exchange, &world, devices, limits, &self.watch)?;
            let end = Time(report.lasted.as_nanos() as u64);
            let mut tables = result.tables(0, &world);
            tables.extend(report.series.tables(end, &report.phones, &report.late));
            Ok((report, tables))
        };
        let about = || format!("emulating {}, seed {seed}", scenario.label());
        let (report, found) = guarded(about, || py.detach(work))?.map_err(|error| match &error {
            Error::World(error) => to_py(error),
            error => refused(error),
        })?;
        Ok((report_to_dict(py, &report, late_s)?, tables::all(py, found)?))
    }
}

impl Emulation {
    fn devices(&self, count: usize) -> nodeb_emu::Result<Vec<OwnedFd>> {
        let mut found: Vec<Option<OwnedFd>> = std::iter::repeat_with(|| None).take(count).collect();
        while found.iter().any(Option::is_none) {
            let (number, device) = self.device_socket.receive()?;
            if let Some(place) = found.get_mut(usize::from(number)) {
                *place = Some(device);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }
}

/// Returns the header of a recording as the bytes with which it was created.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn flight_header(path: PathBuf) -> PyResult<Vec<u8>> {
    let reader = Reader::open(&path).map_err(|error| refused(&Error::Log(error)))?;
    Ok(reader.header().to_vec())
}

/// Replays a recording. Returns two dicts: the report and the tables of results. In the report,
/// `differs` is a message about the first packet whose fate differs from the recorded one, or `None`
/// if no fate differs. If `pcap` is given, packets at the network interfaces are captured in this
/// file. If `radio` is true, the file also has the packets at the interfaces of the radio network.
#[pyfunction]
#[pyo3(signature = (path, scenario, seed, users, control, pcap=None, radio=false))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn replay_flight<'py>(
    py: Python<'py>,
    path: PathBuf,
    scenario: &CompiledScenario,
    seed: u64,
    users: Vec<u32>,
    control: &Bound<'py, Control>,
    pcap: Option<PathBuf>,
    radio: bool,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let world = scenario.shared();
    let log = Log { path: &path, control: control.get().inner() };
    let work = || {
        let (mut found, result) = match &pcap {
            Some(pcap) => recordings::captured(log, &world, seed, &users, (pcap, radio))?,
            None => {
                log.replay(&world, seed, &users, NullListener).map_err(|error| recordings::failed(&error))?
            }
        };
        let mut tables = result.tables(0, &world);
        tables.extend(found.series.tables(found.lasted, &found.phones, &found.late));
        Ok::<_, PyErr>((found, tables))
    };
    let about = || format!("replaying {}, seed {seed}", path.display());
    let (found, tables) = guarded(about, || py.detach(work))??;
    let report = PyDict::new(py);
    report
        .set_item("phones", found.phones.iter().map(|it| of_phone(py, it)).collect::<PyResult<Vec<_>>>()?)?;
    report.set_item("same", found.same)?;
    report.set_item("differs", found.differs)?;
    report.set_item("complete", found.complete)?;
    report.set_item("lateness", times(py, &found.late)?)?;
    report.set_item("lasted_s", found.lasted.as_secs())?;
    Ok((report, tables::all(py, tables)?))
}

/// Returns the tables that only emulations have, with the names, units and meanings of their columns.
#[pyfunction]
pub fn emulation_tables() -> Vec<About> {
    series::empty().into_iter().map(tables::about).collect()
}

fn refused(error: &Error) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// `late_s` is the lateness above which a delivery counts as late.
fn report_to_dict<'py>(py: Python<'py>, report: &Report, late_s: f64) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("lasted_s", report.lasted.as_secs_f64())?;
    found.set_item("slept_s", report.slept.as_secs_f64())?;
    found
        .set_item("phones", report.phones.iter().map(|it| of_phone(py, it)).collect::<PyResult<Vec<_>>>()?)?;
    let refused = &report.refused;
    found.set_item("malformed", refused.malformed)?;
    found.set_item("stray", refused.stray)?;
    found.set_item("too_long", refused.too_long)?;
    found.set_item("no_memory", refused.no_memory)?;
    found.set_item("unwritten", refused.unwritten)?;
    let late = times(py, &report.late)?;
    late.set_item("limit_s", late_s)?;
    late.set_item("share_beyond", report.late.share_beyond((late_s * 1e9) as u64))?;
    found.set_item("lateness", late)?;
    found.set_item("busy", times(py, &report.busy)?)?;
    found.set_item("waiting", report.waiting)?;
    found.set_item("wakes", report.wakes)?;
    found.set_item("memory_bytes", report.memory)?;
    if let Some(error) = &report.unrecorded {
        found.set_item("unrecorded", error.to_string())?;
    }
    Ok(found)
}

fn of_phone<'py>(py: Python<'py>, phone: &PhoneReport) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("user", phone.user)?;
    found.set_item("down", direction_report(py, &phone.down)?)?;
    found.set_item("up", direction_report(py, &phone.up)?)?;
    Ok(found)
}

fn direction_report<'py>(py: Python<'py>, report: &DirectionReport) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("offered_packets", report.offered.packets)?;
    found.set_item("offered_bytes", report.offered.bytes)?;
    found.set_item("arrived_packets", report.arrived.packets)?;
    found.set_item("arrived_bytes", report.arrived.bytes)?;
    for ((_, name), lost) in CAUSES.iter().zip(report.lost) {
        found.set_item(name, lost)?;
    }
    found.set_item("delay", times(py, &report.delay)?)?;
    let (first, last) = report.span.unwrap_or_default();
    found.set_item("span_s", last.as_secs() - first.as_secs())?;
    Ok(found)
}

fn times<'py>(py: Python<'py>, times: &Lateness) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("count", times.count())?;
    found.set_item("mean_s", times.mean_s())?;
    for (name, share) in [("p50_s", 0.5), ("p99_s", 0.99), ("p999_s", 0.999)] {
        found.set_item(name, times.quantile_s(share))?;
    }
    found.set_item("max_s", times.max_s())?;
    Ok(found)
}
