"""The simulation core, written in Rust. Use it through `nodeb.Scenario` rather than directly."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.comparison.differences import Comparison
from nodeb.results.metrics import Metric
from nodeb.stats import Interval

__all__ = [
    "Cancelled",
    "CompiledScenario",
    "Control",
    "Emulation",
    "InternalError",
    "LinkError",
    "Pairs",
    "Paths",
    "Remedy",
    "ScenarioError",
    "Shown",
    "StoppingRule",
    "Tried",
    "Unfinished",
    "apportioned",
    "built_in_metrics",
    "by_run",
    "causes",
    "cell_map",
    "compare_tables",
    "comparison_answers",
    "counted",
    "coverage",
    "coverage_by_run",
    "difference",
    "document",
    "emulation_tables",
    "era_switches",
    "explain_answer",
    "fail_on_purpose",
    "family_confidence",
    "first_entries",
    "flight_connections",
    "flight_explain",
    "flight_header",
    "flight_packets",
    "flight_timeline",
    "fraction",
    "group_names",
    "group_rows",
    "holm",
    "incomplete",
    "interval",
    "jackknife",
    "jain_indices",
    "joined",
    "judge",
    "judge_precision",
    "line_of",
    "line_of_entry",
    "link_resolve",
    "link_run",
    "link_schema",
    "mean_interval",
    "metric_difference",
    "metrics",
    "no_arrival_hint",
    "number",
    "of_whom",
    "paired_difference",
    "part_percent",
    "parts",
    "percent",
    "prediction_interval",
    "ratio_interval",
    "read_error_model",
    "read_numbers",
    "registry",
    "replay_flight",
    "resolve",
    "rings",
    "run_answer",
    "runs_needed",
    "scale_of",
    "schema",
    "sentence",
    "shown",
    "shown_differences",
    "signed",
    "spelled",
    "summarize",
    "t_quantile",
    "t_upper_tail",
    "timeline",
    "timeline_tables",
    "unfinished",
    "version",
    "wcdma_ber",
    "wcdma_check_bits",
    "wcdma_frame",
    "wcdma_mean_factor",
    "wcdma_rates",
    "wcdma_shares",
    "wcdma_sinr",
]

class ScenarioError(ValueError):
    """Error: a scenario is wrong. The message names file, line and key."""

class Cancelled(Exception):
    """Error: a call, such as a simulation or a replay, was cancelled through its `Control`."""

class InternalError(RuntimeError):
    """Error: a mistake of nodeb itself. The message names the operation and the code line."""

class LinkError(ValueError):
    """Error: a link experiment is wrong.

    The arguments of the exception are the wrong key of the experiment and the reason.
    """

@final
class Control:
    """Object with which another thread reads the progress of a running call and can cancel it.

    The call simulates replications, or reads or replays a recording.
    """

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """Asks the running call to stop. That call raises `Cancelled` soon after."""

    def progress(self) -> float:
        """Returns the fraction of the running call's work that is done, from 0 to 1."""

@final
class Emulation:
    """Emulation: real packets from TUN devices cross a scenario's cell. Linux only."""

    def __new__(cls) -> Emulation: ...
    def fileno(self) -> int:
        """Returns the file descriptor of the socket over which endpoints pass their TUN devices.

        A message has one device and, as a byte, the endpoint's number: 0 for the server, from 1 for
        the phones.
        """

    def stop(self) -> None:
        """Stops the emulation at once. It cannot be resumed."""

    def status(self) -> dict[str, Any]:
        """Returns the latest status of the running emulation; before the first, all values are 0.

        Names that end in `_s` are times in s and names that end in `_bytes` are bytes; other counts
        are packets. `cqi` is NaN if the radio has no CQI.
        """

    def drive(
        self,
        scenario: CompiledScenario,
        seed: int,
        phones: list[tuple[int, list[str]]],
        mtu: int,
        memory: int,
        late_s: float,
        duration_s: float | None,
        log: tuple[str | os.PathLike[str], bytes, int] | None,
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Receives the TUN devices, and emulates the scenario in real time.

        The emulation ends when `stop` is called or `duration_s` is over. `log` consists of the path
        of the recording, its header, and the number of bytes to record of each packet; None records
        nothing.

        Returns:
            The report, and the result tables by name. The report has the key `unrecorded` with the
            reason if the recording is incomplete.

        Raises:
            ScenarioError: the scenario cannot be emulated.
            OSError: a system call failed, or the recording cannot be created.
        """

def emulation_tables() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Returns descriptions of the tables that only emulations have. Linux only.

    Their form is that of the result of the function `metrics`.
    """

def flight_header(path: str | os.PathLike[str]) -> bytes:
    """Returns the header of a recording, a JSON text as bytes. Linux only.

    Raises:
        OSError: the file cannot be read or is not a recording.
    """

def flight_connections(
    path: str | os.PathLike[str], control: Control
) -> tuple[dict[str, dict[str, Any]], int, int, bool]:
    """Returns the TCP connections of a recording. Linux only.

    Returns:
        Four values: a dict with the table `connections`; the number of packets of other protocols;
        the number of packets whose connection is unknown, mostly because too few of their bytes
        were recorded; and whether the log is complete.

    Raises:
        Cancelled: `control` was cancelled.
        OSError: the log cannot be read.
    """

def flight_packets(
    path: str | os.PathLike[str], control: Control
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Returns the headers of a recording's packets. Linux only.

    Returns:
        A dict with the table `packets`, one row per packet in the order of their numbers, and
        whether the log is complete.

    Raises:
        Cancelled: `control` was cancelled.
        OSError: the log cannot be read.
    """

def flight_explain(
    path: str | os.PathLike[str],
    scenario: CompiledScenario,
    seed: int,
    users: list[int],
    connection: int,
    control: Control,
) -> dict[str, dict[str, Any]]:
    """Replays a recording and explains one of its TCP connections. Linux only.

    Returns:
        The tables that `CompiledScenario.explain` returns, for the transfer of the connection.

    Raises:
        Cancelled: `control` was cancelled.
        ValueError: there is no such connection, none of its packets arrived, or the replay differs
            from the recording.
        OSError: the log cannot be read or does not fit the scenario.
    """

def flight_timeline(
    path: str | os.PathLike[str],
    scenario: CompiledScenario,
    seed: int,
    users: list[int],
    control: Control,
    from_ns: int = 0,
    to_ns: int | None = None,
    user: int | None = None,
    most: int | None = None,
) -> dict[str, Any]:
    """Replays a recording and returns the packet timeline of a window of time. Linux only.

    Returns:
        What the function `timeline` returns, but `seq` of a real packet is its number in the
        recording.

    Raises:
        Cancelled: `control` was cancelled.
        ValueError: there is no such user, nothing happens in the window, there are more than `most`
            events, or the replay differs from the recording.
        OSError: the log cannot be read or does not fit the scenario.
    """

def replay_flight(
    path: str | os.PathLike[str],
    scenario: CompiledScenario,
    seed: int,
    users: list[int],
    control: Control,
    pcap: str | os.PathLike[str] | None = None,
    radio: bool = False,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Replays a recording in virtual time. Linux only.

    Args:
        path: the recording.
        scenario: scenario of the recording.
        seed: seed of the recording.
        users: user indices of the recording's phones.
        control: receives the progress and can cancel the replay.
        pcap: pcapng file to which the packets at the interfaces are written; None for no file.
        radio: capture at `rnc`, `node_b` and `pdcp` too, with comments on packets.

    Returns:
        The report, which says whether the replay equals the recording, and the result tables by
        name.

    Raises:
        Cancelled: `control` was cancelled.
        ScenarioError: the scenario cannot be driven from outside.
        OSError: the log cannot be read or does not fit the scenario.
    """

def read_numbers(text: bytes, skip: int, most: int) -> list[NDArray[np.float64]]:
    """Returns the columns of numbers in a text, one array per column.

    An entry is a line that is not blank and whose first character after blanks is not `#`. The
    first `skip` entries are left out; without further entries, there are no arrays.

    Raises:
        ValueError: a line is malformed, or there are more than `most` entries. The arguments of the
            exception are the line's number and the reason.
    """

def first_entries(text: bytes, most: int) -> list[tuple[int, list[str]]]:
    """Returns the first `most` entries of a text, each as its line number, from 1, and its words.

    An entry is a line that is not blank and whose first character after blanks is not `#`.
    """

def line_of_entry(text: bytes, entry: int) -> int | None:
    """Returns the line number, from 1, of entry number `entry`, from 0; None if there are fewer.

    An entry is a line that is not blank and whose first character after blanks is not `#`.
    """

def fail_on_purpose(what: str) -> None:
    """Raises the error that a mistake of nodeb would cause, so that tests can check its message.

    `what` is the operation that the message names.

    Raises:
        InternalError: always.
    """

def schema() -> str:
    """Returns the JSON Schema (draft 2020-12) of a scenario."""

def cell_map(scenario: CompiledScenario, side: int) -> dict[str, Any]:
    """Returns a map of the mean SNR in a scenario's served cells, `side` by `side` points.

    `snr_db` has the SNR in dB, row by row from the south, NaN outside the cells. `axis_m` has the
    coordinates of the points along each axis, and `sites_m` has x and y of each Node B in turn.

    Raises:
        ScenarioError: the scenario's radio has no cell.
    """

def era_switches() -> list[list[str]]:
    """Returns the defaults of classic TCP that ns-2 changed, by the day of the change.

    Each item is a list: key below `tcp.classic`, ns-2's variable, day of the change, default before
    and default after that day as JSON, and meaning.
    """

def registry() -> list[tuple[str, str, str]]:
    """Returns kind, name and one-line description of every registered component."""

@final
class CompiledScenario:
    """A scenario that was read and checked once, and can be simulated any number of times.

    Its methods may be called from several threads at once; they release the GIL.
    """

    @staticmethod
    def from_json(
        json: str,
        label: str | None = None,
        recorded: list[tuple[int | str, dict[str, Any]]] = ...,
        file: CompiledScenario | None = None,
    ) -> CompiledScenario:
        """Reads a partial or complete scenario; `label` is its name in messages about a run.

        `recorded` has the lists of recordings as arrays, each with the owner of the recording: the
        number of a group of users, or `down` or `up` for a direction of `radio.trace`. `file` is
        the scenario as read from its file, without changes; messages name lines of that file.

        Raises:
            ScenarioError: the scenario is wrong, or names a file whose content it lacks.
        """

    @staticmethod
    def from_toml(text: str, file: str, overrides: list[str]) -> CompiledScenario:
        """Reads a TOML text with overrides `key.path=value`; ignores a `[sweep]` table.

        Raises:
            ScenarioError: the scenario is wrong.
        """

    def with_overrides(self, overrides: list[str], without: list[str] = ...) -> CompiledScenario:
        """Returns the scenario without the dotted keys in `without`, and with overrides.

        Each override has the form `key.path=value`; removed keys have their defaults.
        """

    def planned(
        self, runs: int | None = None, precision: float | None = None, seed: int | None = None
    ) -> CompiledScenario:
        """Returns the scenario with another number of replications, precision or seed.

        None keeps the scenario's own value, but `runs` without `precision` removes the scenario's
        precision, so that exactly `runs` replications are simulated.
        """

    @property
    def name(self) -> str:
        """Name of the scenario, from its key `name`."""

    @property
    def seed(self) -> int:
        """Seed of all random streams, from the key `seed`."""

    @property
    def runs(self) -> int:
        """Number of replications, or the minimum if there is a precision."""

    @property
    def precision(self) -> float | None:
        """Relative half-width to reach; None if the scenario requests no precision."""

    @property
    def max_runs(self) -> int:
        """Maximum number of replications if the precision is not reached."""

    @property
    def connections(self) -> list[tuple[str, int, str]]:
        """Connections by number: the name of the group, the phone, and the direction of the data.

        The direction is `down` or `up`.
        """

    def remedies(self, user: int) -> list[Remedy]:
        """Returns the changes of the scenario that may shorten transfers of a user."""

    @property
    def unread(self) -> bool:
        """True if the scenario names a file whose content it does not contain."""

    @property
    def has_sweep(self) -> bool:
        """True if the file that the scenario was read from has a `[sweep]` table."""

    def superfluous(self) -> list[str]:
        """Returns the keys that the scenario's file could omit: they repeat their defaults.

        Only keys that have no effect in this scenario are returned.

        Each item is a text of the form `file:line: key: reason`. The list is empty if the scenario
        was not read from a file.
        """

    def to_json(self) -> str:
        """Returns the scenario with every default filled in, as JSON."""

    def to_bare_json(self) -> str:
        """Returns what `to_json` returns, without the lists that `from_json` got as `recorded`."""

    def to_toml(self) -> str:
        """Returns the scenario with every default filled in, as TOML."""

    def warnings(self) -> list[str]:
        """Returns warnings about values that are allowed but doubtful, each as `key: effect`."""

    def run(self, seed: int, run: int, control: Control) -> dict[str, dict[str, Any]]:
        """Simulates one replication. Returns values by table and column.

        A column is a NumPy array of one dimension.

        Raises:
            Cancelled: `control` was cancelled.
            InternalError: a mistake of nodeb's.
        """

    def run_many(
        self, seed: int, first: int, runs: int, control: Control
    ) -> dict[str, dict[str, Any]]:
        """Simulates `runs` replications from number `first` on, one after the other.

        Returns:
            Values by table and column as from `run`, with the rows of all replications.
        """

    def capture(
        self,
        seed: int,
        run: int,
        control: Control,
        path: str | os.PathLike[str],
        snap_length: int | None = None,
        interfaces: list[str] = ...,
        radio: bool = False,
        causes: list[int] = ...,
    ) -> dict[str, dict[str, Any]]:
        """Simulates a replication as `run` does, and writes captured packets to a pcapng file.

        Args:
            seed: seed of the random streams.
            run: number of the replication.
            control: stops the replication; the file then holds the packets so far.
            path: the pcapng file.
            snap_length: bytes kept of each packet, 80 to 65535; None keeps the headers.
            interfaces: interfaces whose packets are kept: `server`, `phone`, `proxy` and, with
                `radio`, `rnc`, `node_b` and `pdcp`; empty for all.
            radio: capture at `rnc`, `node_b` and `pdcp` too, with comments on packets.
            causes: users for whose first 20 transfers comments state the critical path.

        Raises:
            OSError: the file cannot be written, or is incomplete; its content can then be read.
            ValueError: the snap length is out of range, there is no such interface, or a user in
                `causes` does not exist or begins no transfer.
        """

    def explain(
        self, seed: int, run: int, user: int, transfer: int, control: Control
    ) -> dict[str, dict[str, Any]]:
        """Simulates a replication until a user's transfer is complete, and explains the transfer.

        A transfer that does not end is explained up to the end of the run.

        Returns:
            Three tables by name: `transfer` with one row, `busy` with the time for which each link
            and channel transmitted packets of the connection, and `spans` with the critical path.
            A text column of `spans` is a pair: an array of indices, and the list of texts to which
            they refer.

        Raises:
            ValueError: there is no such user or transfer.
            Cancelled: `control` was cancelled.
        """

def causes() -> list[tuple[str, str]]:
    """Returns name and meaning of every cause that time on a critical path can have."""

def document(text: str, file: str) -> str:
    """Returns the content of a TOML text as JSON, with the keys in the order of the text.

    Only the syntax is checked. `file` is the name of the text in messages.
    """

def line_of(text: str, path: list[str]) -> int | None:
    """Returns the line, from 1, of the value at a path of keys.

    If the value is missing, the line of the closest enclosing part is returned, or None if the
    text is not TOML or lacks the first key.
    """

def resolve(json: str) -> str:
    """Returns a partial scenario with every default filled in; both are JSON."""

def metrics() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Returns descriptions of a run's tables: name, meaning, and a list of the columns.

    Each column is described by its name, unit and meaning.

    The unit is 1 for a ratio, and empty for a count, a number or a name.
    """

def timeline(
    scenario: CompiledScenario,
    seed: int,
    run: int,
    control: Control,
    from_ns: int = 0,
    to_ns: int | None = None,
    user: int | None = None,
    most: int | None = None,
) -> dict[str, Any]:
    """Simulates one replication and returns the packet timeline in a window of time.

    Returns:
        `tables` (`events`, `packets`, `hops`, `blocks`: table -> column -> values), `names` (the
        texts that the numbers in a column stand for, by column), `lanes`, `places` (name and the
        lanes at which packets come and leave), `node_b` (its lane), `until_ns`, and `tti_ns`, None
        without TTIs.

    Raises:
        Cancelled: `control` was cancelled.
        InternalError: a mistake of nodeb's.
        ValueError: there is no such user, nothing happens in the window, or more than `most`
            events.
    """

def timeline_tables() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Returns descriptions of the tables of a timeline.

    Their form is that of the result of the function `metrics`.
    """

def read_error_model(text: str, file: str) -> str:
    """Parses the text of an error model file. Returns the value of a radio's key `errors`, as JSON.

    `file` is the name of the model file in messages.
    """

def link_schema() -> str:
    """Returns the JSON Schema (draft 2020-12) of a link experiment."""

def link_resolve(json: str) -> tuple[str, str]:
    """Returns two JSON texts: a link experiment with every default filled in, and its service."""

def link_run(
    json: str,
    eb_n0_db: float,
    threads: int,
    watch: Callable[[int, int], None] | None = None,
    portable: bool = False,
) -> dict[str, Any]:
    """Simulates a link experiment at one Eb/N0. Releases the GIL.

    Args:
        json: the experiment, as JSON.
        eb_n0_db: Eb/N0 of the point, dB.
        threads: number of threads; does not affect the results.
        watch: called with the bits and the block errors so far, after each batch of four units (of
            16 blocks) per thread.
        portable: use no instructions beyond the platform's baseline; does not affect the results.

    Returns:
        For `bits`, `pdus`, `blocks`, `raw` and `signalling` a dict of `trials`, `errors`, `rate`,
        `ci95_low` and `ci95_high`; further `undetected`, `iterations`, `air_s`, the array
        `pdu_errors` (1 is a lost PDU), and `interrupted`, which Ctrl-C makes true.
    """

def version() -> str:
    """Returns the version of the compiled core, such as `0.1.0`."""

def wcdma_sinr(
    path: float, own_cell: float, other_cells: float, spreading: float, eb_n0: float
) -> float:
    """Returns the average SINR (linear) of a path with the share `path` of the received power."""

def wcdma_ber(gammas: list[float]) -> float:
    """Returns the bit error rate of a receiver with maximum-ratio combining of paths.

    `gammas` has the mean signal-to-noise ratio (linear) of each path.
    """

def wcdma_frame(ber: float, bits: int, correctable: int) -> tuple[float, float]:
    """Returns the probabilities of at most and of more than `correctable` bit errors in a frame.

    `ber` is the probability of a bit error, and `bits` the number of bits of the frame.
    """

def wcdma_check_bits(bits: int, correctable: int) -> int | None:
    """Returns the number of check bits of a code of `bits` bits that corrects `correctable` errors.

    Returns None if no bits would be left for data.
    """

def wcdma_shares(scenario: CompiledScenario) -> list[float]:
    """Returns the share of the received power on each path of a scenario's power delay profile."""

def wcdma_rates(
    scenario: CompiledScenario, most: int, seed: int, run: int
) -> tuple[list[list[int]], list[list[float]], float]:
    """Returns rates and frame error rates for 1, 2, ... `most` active connections, and alpha.

    The connections are those of the scenario's first users, rates are in frames per slot, and alpha
    is the mean rate of connections in the other cells.
    """

def wcdma_mean_factor(scenario: CompiledScenario, places: int) -> float:
    """Returns the interference factor of the `mean` model that is equivalent to a scenario's map.

    The factor is averaged over `places` random positions of phones. For a scenario with the `mean`
    model its own factor is returned.
    """

_Tables = Mapping[str, Table]
_Own = list[tuple[Metric, dict[str, NDArray[np.float64]]]]
"""Metrics that users define, each with its values by group."""

def built_in_metrics() -> list[dict[str, Any]]:
    """Returns the metrics that the core computes, in the order of summaries."""

def of_whom(metric: Metric) -> str:
    """Returns a phrase for the items that a metric's mean covers, as in "phones that have a
    value"."""

def group_names(tables: _Tables) -> list[str]:
    """Returns the names of the groups of users, last those of all users together."""

def group_rows(
    tables: _Tables, group: str, table: str
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Returns the runs in which a group has users, its rows of a table, and the place of each
    row's run among the runs."""

def by_run(tables: _Tables, own: _Own) -> dict[str, NDArray[Any]]:
    """Returns columns of metrics by replication: a row per group of users and run."""

def summarize(tables: _Tables, own: _Own, duration_s: float) -> dict[str, list[Any]]:
    """Returns columns of a summary: a row per group of users and metric."""

def coverage(tables: _Tables, own: _Own) -> dict[str, dict[str, float]]:
    """Returns the share of users or replications that have a value, by group and metric."""

def coverage_by_run(tables: _Tables, own: _Own, metric: Metric) -> NDArray[np.float64]:
    """Returns the share of users or replications that have a value, for each row of `by_run`."""

@final
class Unfinished:
    """Statistics of a result's transfers that were in progress when their run ended."""

    def __new__(cls) -> Unfinished:
        """Returns the statistics of no transfers at all."""

    @property
    def transfers(self) -> int:
        """Number of transfers, finished or not, without endless ones."""

    @property
    def count(self) -> int:
        """Number of transfers of which the receiver had not received everything."""

    @property
    def share(self) -> float:
        """Share of all transfers that were not complete; 0 if there are no transfers."""

    @property
    def median_s(self) -> float:
        """Kaplan-Meier estimate of all transfers' median download time, s; NaN if it is not
        reached."""

    @property
    def enough_s(self) -> float:
        """Suggested duration of a run, s, in which most unfinished transfers would finish; NaN if
        there is none."""

    def __add__(self, other: Unfinished, /) -> Unfinished: ...
    def __radd__(self, other: Unfinished, /) -> Unfinished: ...

def unfinished(tables: _Tables, duration_s: float) -> Unfinished:
    """Returns the statistics of all transfers of runs of this duration."""

def no_arrival_hint(duration_s: float) -> str:
    """Returns a question about why nothing arrived."""

def rings(
    tables: _Tables,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint64]] | None:
    """Returns the distance of each phone, m, the distances that separate rings, m, and the ring of
    each phone; None without distances, or for too few phones."""

@final
class Shown:
    """A value, such as a mean, with its interval if it has one, as text."""

    def __new__(
        cls, number: str, unit: str, low: str = "", high: str = "", mark: str = ""
    ) -> Shown: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str, str, str, str, str]: ...
    @property
    def number(self) -> str:
        """Value without its unit."""

    @property
    def unit(self) -> str:
        """Unit of the value and its interval; empty if the value has none."""

    @property
    def low(self) -> str: ...
    @property
    def high(self) -> str: ...
    @property
    def mark(self) -> str:
        """Sign after a mean from which users or transfers without a value are excluded; else
        empty."""

    @property
    def value(self) -> str:
        """Value with its unit and its mark, separated by spaces; empty parts are omitted."""

    @property
    def interval(self) -> str:
        """Interval with its unit, such as `2.95 to 3.07 s`; empty if the value has no interval.

        If both ends equal the value as displayed, it is "in every replication".
        """

    @property
    def in_one_cell(self) -> str:
        """Mean and interval for one cell of a table: `3.01 (2.95 to 3.07) s`.

        It is the mean alone if there is no interval, or if both ends are displayed alike.
        """

    @property
    def with_level(self) -> str:
        """Mean and interval with the confidence level: `3.01 s (95 %: 2.95 to 3.07 s)`."""

    def marked(self, mark: str) -> Shown:
        """Returns the same value with a mark."""

def shown(
    mean: float,
    low: float = ...,
    high: float = ...,
    unit: str = "",
    *,
    percent: bool = False,
    scale: tuple[str, float] | None = None,
) -> Shown:
    """Formats a mean and its interval.

    If the first two digits of an interval's half-width are 10 to 35, both are kept, otherwise only
    the first. The mean and both ends are rounded to the last digit kept. This is the rule of the
    Particle Data Group for uncertainties (Review of Particle Physics, introduction, section 5.3).
    There is one exception: if two digits would give the mean more than four digits, only one is
    kept. A number without an interval has three significant digits, a whole number all its digits.
    """

def difference(
    mean: float,
    low: float,
    high: float,
    unit: str = "",
    *,
    percent: bool = False,
    scale: tuple[str, float] | None = None,
) -> Shown:
    """Formats a difference and its interval, with signs.

    Without `scale`, a difference of ratios in per cent has the unit points (percentage points).
    """

def number(value: float, unit: str = "", *, percent: bool = False) -> str:
    """Formats a value without an interval, with its unit."""

def interval(low: float, high: float, unit: str = "", *, percent: bool = False) -> str:
    """Formats an interval, with its unit."""

def scale_of(value: float, unit: str, *, percent: bool = False) -> tuple[str, float]:
    """Returns the unit to display a value in, such as ms, and the factor to convert to it."""

def parts(values: Sequence[float], unit: str) -> list[str]:
    """Formats parts in one unit, rounded so that they add up to their sum as displayed.

    A part that would be rounded to 0 is formatted by itself, with digits and a unit of its own.
    """

def apportioned(values: Sequence[float], whole: int) -> list[int]:
    """Rounds values to whole numbers whose sum is `whole`, by the method of largest remainders."""

def signed(text: str) -> str:
    """Puts a plus sign before the text of a positive number; returns any other text unchanged."""

def fraction(share: float) -> str:
    """Returns the simple fraction that a share is near, such as "a third"; empty if there is
    none."""

def part_percent(shares: Sequence[float], which: Sequence[int]) -> str:
    """Returns the sum of some shares of a whole in whole per cent.

    Every share is rounded so that all of them add up to the rounded sum of the exact shares.
    """

def percent(share: float) -> str:
    """Returns a share in whole per cent.

    A share between 0 and 1 that would be rounded to 0 % or 100 % becomes "less than 1 %" or "more
    than 99 %".
    """

def joined(words: Sequence[str], last: str = "and") -> str:
    """Returns a list in words, such as `a, b and c`."""

def counted(number: int, noun: str) -> str:
    """Returns a number with a noun, which gets an s unless the number is 1."""

def spelled(number: int) -> str:
    """Returns a number up to 12 in letters (`no` for 0), a larger one in digits."""

def sentence(text: str) -> str:
    """Returns a text with its first letter capitalized; the other letters stay as they are."""

def mean_interval(
    values: NDArray[np.float64], confidence: float
) -> tuple[float, float, float, float, int]:
    """Returns mean, low, high, sample standard deviation and number of values."""

def paired_difference(
    first: NDArray[np.float64], second: NDArray[np.float64], confidence: float
) -> tuple[float, float, float, float, int]:
    """Returns the mean of `first - second`, as `mean_interval` does."""

def ratio_interval(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64], confidence: float
) -> tuple[float, float, float, float, int]:
    """Returns the ratio of the means, as `mean_interval` does."""

def prediction_interval(
    values: NDArray[np.float64], further: int, confidence: float
) -> tuple[float, float, float, float, int]:
    """Returns the interval of the mean of `further` more values, as `mean_interval` does."""

def jackknife(value: float, left_out: NDArray[np.float64]) -> tuple[float, float]:
    """Returns both ends of the 95 % interval of a function of means."""

def runs_needed(stdev: float, half_width: float, confidence: float, power: float) -> int:
    """Returns the number of replications for a half-width, or for detecting a difference."""

def family_confidence(number: int) -> float:
    """Returns the confidence of each of several intervals for a joint confidence of 95 %."""

def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Returns, for each hypothesis, whether Holm's procedure rejects it."""

def jain_indices(shares: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Returns Jain's fairness index of each group of `size` shares."""

def t_quantile(degrees: int, probability: float) -> float:
    """Returns the quantile of Student's t; NaN for 0 degrees of freedom."""

def t_upper_tail(degrees: int, t: float) -> float:
    """Returns the probability of a value of at least `t` of Student's t."""

def judge_precision(
    relative: float, min_runs: int, max_runs: int, values: NDArray[np.float64], mean: str
) -> tuple[int, bool, str] | None:
    """Returns the end of an experiment with these values, or None if it needs more replications.

    The end is the number of replications, whether the precision was reached, and the reason.
    """

@final
class StoppingRule:
    """Stopping rule of a scenario. Its decision depends on the first replications only."""

    @staticmethod
    def count(runs: int) -> StoppingRule:
        """Returns a rule with a fixed number of replications."""

    @staticmethod
    def sequential(relative: float, min_runs: int, max_runs: int) -> StoppingRule:
        """Returns a rule for the precision of the mean bit rate.

        It takes the columns `application_bps` and `received_bps` of `flows`.
        """

    @staticmethod
    def rounds(runs: int, max_runs: int, relative: float | None) -> StoppingRule:
        """Returns a rule of rounds for the precision of the mean of any value.

        It takes one value of each replication.
        """

    def take(self, runs: int, *columns: NDArray[np.float64]) -> None:
        """Receives columns of the next replications, in order."""

    def stop(self) -> tuple[int, bool, str] | None:
        """Returns the end of the experiment, as `judge_precision` does."""

    def ahead(self) -> int:
        """Returns how many replications may be started in total, judging by the results so far."""

    def expected(self) -> int:
        """Returns the probable number of replications in total, for the progress report."""

_Ends = tuple[float, float, float, float, int]
"""Mean, low, high, sample standard deviation and number of values."""
_Verdict = tuple[str, int, float, float]
"""Kind, sign, and the usual and the cautious number of further replications."""
_DifferenceRow = tuple[_Ends, _Ends, _Ends, _Ends, _Verdict, float, int, int, float]
"""Fields of `nodeb.comparison.Difference` after the metric."""
_Tried = tuple[
    str,
    list[tuple[str, int, _DifferenceRow]],
    list[str],
    list[tuple[str, list[str]]],
    list[str],
]
"""Fields of `nodeb.comparison.differences.Tried`; a difference has group, number of the metric and
other fields."""

def judge(found: Interval, margin: float, better: str, confidence: float) -> _Verdict:
    """Returns the verdict on the interval of a difference."""

def metric_difference(
    metric: Metric,
    base: NDArray[np.float64],
    own: NDArray[np.float64],
    margin: float,
    confidence: float,
    durations_s: tuple[float, float],
) -> _DifferenceRow | None:
    """Returns the difference of a metric, from its values by replication, or None if there is no
    pair of values."""

def compare_tables(
    sides: list[tuple[str, _Tables, _Own, float]], metrics: list[Metric], margin: float
) -> tuple[list[_Tried], int, float, bool]:
    """Returns the differences of each scenario but the first, the number of pairs, the duration of
    the shortest runs, s, and whether all transfers are uploads.

    A scenario has a name, tables, metrics that users define, and the duration of a run, s.
    """

def comparison_answers(comparison: Comparison, folder: str) -> list[str]:
    """Returns an answer in JSON about each scenario but the baseline, with empty bars where causes
    are shown."""

def shown_differences(comparison: Comparison) -> list[list[tuple[int, str]]]:
    """Returns, for each scenario but the baseline, numbers of the differences in its table, with
    their signs."""

def run_answer(
    name: str,
    tables: _Tables,
    metrics: list[Metric],
    summary: list[tuple[Any, ...]],
    plan: tuple[int, int, str],
    scenario: str,
    why: Paths | None,
    following: tuple[str, bool, str] | None,
) -> str:
    """Returns the answer of a run in JSON.

    `plan` is the number of replications, the seed, and the reason for that number unless it was
    asked for; `scenario` is the resolved scenario as JSON. `why` has the critical paths of the only
    phone's transfer. `following` is the folder with the tables, whether there is a report, and the
    command that explains a transfer.
    """

@final
class Paths:
    """Critical paths of a transfer, over its replications."""

    def __new__(
        cls,
        scenario: CompiledScenario,
        shares: list[Any],
        ns: NDArray[np.uint64],
        busy: list[tuple[str, float]],
        lost: tuple[int, ...],
        packets: NDArray[np.float64],
    ) -> Paths:
        """Takes shares of the paths, and a row of their times, ns, for each replication.

        Args:
            scenario: scenario of the transfer, or of the recording.
            shares: cause, step, place, cause of the round trip, and whether they follow a loss.
            ns: times of the shares.
            busy: mean time, s, for which each link or channel sent.
            lost: losses on links, in queues and on the radio, and effects of marks.
            packets: mean number of packets that each cause delayed, in the order of `causes()`.
        """

    def times(self) -> NDArray[np.float64]:
        """Returns the duration of each replication, s."""

    def seconds(self, name: str) -> NDArray[np.float64]:
        """Returns the time of a cause in each replication, s."""

    def causes(self) -> list[str]:
        """Returns the names of the causes that occur, by decreasing mean time."""

    def place(self, name: str) -> str:
        """Returns the place at which a cause takes most of its time."""

    def step(self, name: str) -> str:
        """Returns the step in which a cause takes most of its time."""

    def bars(self, head: str, small: float) -> str:
        """Returns bars of the causes as JSON."""

    def table(self) -> dict[str, Any]:
        """Returns the columns of the table of causes."""

@final
class Remedy:
    """Change of a scenario that may shorten a transfer."""

    @property
    def name(self) -> str: ...
    @property
    def causes(self) -> tuple[str, ...]:
        """Targeted causes; empty if the change targets steps or places of the path."""

    @property
    def scenario(self) -> CompiledScenario:
        """The changed scenario."""

    def is_possible(self, paths: Paths) -> bool:
        """Returns false if the paths show that the change has no effect."""

    def targets(self, paths: Paths) -> dict[str, float]:
        """Returns the mean time on the paths that the change targets, s, by cause."""

@final
class Pairs:
    """Numbers of pairs, by whether a transfer is complete without and with a change."""

    def __new__(
        cls,
        pairs: int,
        both: int,
        only_plain: int,
        only_changed: int,
        begun: bool,
    ) -> Pairs: ...
    def of(self, some: int) -> str: ...
    def summary(self) -> str: ...
    def unknown(self) -> str: ...

@final
class Tried:
    """Simulated effect of a change on a transfer. See `nodeb.explanation.what_if.WhatIf`."""

    def __new__(
        cls,
        name: str,
        gain: tuple[Any, ...],
        baseline_s: float,
        parts: list[tuple[str, tuple[Any, ...]]],
        targets: dict[str, float],
        pairs: Pairs,
        changed: tuple[Any, ...],
        at_least: tuple[Any, ...],
    ) -> Tried: ...
    def outcome(self) -> str: ...
    def why(self) -> str: ...

def explain_answer(
    scenario: CompiledScenario,
    paths: Paths,
    transfer: tuple[str, int, int],
    found: tuple[int, int, int],
    levers: list[tuple[str, float]],
    tried: list[Tried] | None = None,
    commands: tuple[str, str] | None = None,
    beside: list[tuple[str, Paths]] = ...,
) -> str:
    """Returns the answer of an explanation as JSON.

    Args:
        scenario: scenario of the transfer, or of the recording.
        paths: its critical paths.
        transfer: description, empty for a transfer of a simulated user; user; transfer.
        found: smallest and largest size, and number of unfinished transfers.
        levers: names of changes with the times that they target, s, the longest first.
        tried: effects of simulated changes; None if none were simulated.
        commands: command lines that simulate changes, and that write a page.
        beside: paths of other transfers, by name.
    """

def incomplete(unfinished: int, runs: int, of: str) -> str:
    """Returns a remark on transfers that had not finished; `of` says whose."""
