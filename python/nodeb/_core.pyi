"""The simulation core, written in Rust. Use it through `nodeb.Scenario` rather than directly."""

import os
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cancelled",
    "CompiledScenario",
    "Control",
    "Emulation",
    "InternalError",
    "LinkError",
    "ScenarioError",
    "causes",
    "cell_map",
    "document",
    "emulation_tables",
    "era_switches",
    "fail_on_purpose",
    "first_entries",
    "flight_connections",
    "flight_explain",
    "flight_header",
    "flight_packets",
    "flight_timeline",
    "hsdpa_blocks",
    "line_of",
    "line_of_entry",
    "link_resolve",
    "link_run",
    "link_schema",
    "metrics",
    "read_error_model",
    "read_numbers",
    "registry",
    "replay_flight",
    "resolve",
    "schema",
    "timeline",
    "timeline_tables",
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
    """Error: a scenario is wrong. The message names file, line and key, and is complete."""

class Cancelled(Exception):
    """Error: the replication was cancelled through its `Control`."""

class InternalError(RuntimeError):
    """Error: nodeb itself failed. The message says in what and where, and is complete."""

class LinkError(ValueError):
    """Error: a link cannot be simulated; the arguments are a key and the reason."""

@final
class Control:
    """Progress of a replication or a batch, and its cancellation, from another thread."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """Asks the replication to stop; its call raises `Cancelled` soon after."""

    def progress(self) -> float:
        """Returns the fraction of the replication or batch that is done, from 0 to 1."""

@final
class Emulation:
    """Emulation: real packets from TUN devices cross a scenario's cell. Linux only."""

    def __new__(cls) -> Emulation: ...
    def fileno(self) -> int:
        """Returns the socket over which endpoints pass their devices.

        Each device comes with its number as a byte; the server has number 0.
        """

    def stop(self) -> None:
        """Stops the emulation at once. It cannot be resumed."""

    def status(self) -> dict[str, Any]:
        """Returns the latest status: times in s, bytes, packets; `cqi` is NaN without a CQI."""

    def forward(self, mtu: int) -> int:
        """Receives two devices, and copies packets between them until `stop`.

        Returns:
            The number of packets copied.

        Raises:
            OSError: a system call failed.
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
        """Receives the devices, and emulates the scenario until `stop` or the end of `duration_s`.

        `log` has the path of the recording, its header, and the number of bytes to record of each
        packet.

        Returns:
            The report, and the result tables by name.

        Raises:
            ScenarioError: the scenario cannot be emulated.
            OSError: a system call failed, or the recording is incomplete.
        """

def emulation_tables() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Returns the tables that only emulations have, in the form of `metrics`. Linux only."""

def flight_header(path: str | os.PathLike[str]) -> bytes:
    """Returns the header of a recording, JSON. Linux only.

    Raises:
        OSError: the file cannot be read or is not a recording.
    """

def flight_connections(
    path: str | os.PathLike[str], control: Control
) -> tuple[dict[str, dict[str, Any]], int, int, bool]:
    """Returns the TCP connections of a recording. Linux only.

    Returns:
        `connections`; the numbers of packets of other protocols and of unknown protocol, of which
        too few bytes were recorded; whether the log is complete.

    Raises:
        Cancelled: `control` was cancelled.
        OSError: the log cannot be read.
    """

def flight_packets(
    path: str | os.PathLike[str], control: Control
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Returns the headers of a recording's packets. Linux only.

    Returns:
        `packets` by their numbers; whether the log is complete.

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
        As `CompiledScenario.explain`.

    Raises:
        Cancelled: `control` was cancelled.
        ValueError: no such connection, none of its packets arrived, or the replay differs.
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
        As `timeline`; `seq` of real packets is their number in the recording.

    Raises:
        Cancelled: `control` was cancelled.
        ValueError: as `timeline`, or the replay differs.
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
        pcap: file (pcapng) for the packets at the interfaces.
        radio: capture at `rnc` and `node_b` too, with comments on packets.

    Returns:
        The report, which says whether the replay equals the recording, and the tables.

    Raises:
        Cancelled: `control` was cancelled.
        ScenarioError: the scenario cannot be driven from outside.
        OSError: the log cannot be read or does not fit the scenario.
    """

def read_numbers(
    text: bytes, skip: int, columns: list[int] | None, most: int
) -> list[NDArray[np.float64]]:
    """Returns the columns of numbers in a text, from entry number `skip` on.

    Raises:
        ValueError: a line is malformed; the arguments are the line's number and the reason.
    """

def first_entries(text: bytes, most: int) -> list[tuple[int, list[str]]]:
    """Returns the first entries of a text, each with its line number and its words."""

def line_of_entry(text: bytes, entry: int) -> int | None:
    """Returns the line number of an entry of a text."""

def fail_on_purpose(what: str) -> None:
    """Fails in the way a mistake of nodeb would while doing `what`; for tests.

    Raises:
        InternalError: always.
    """

def schema() -> str:
    """Returns the JSON Schema (draft 2020-12) of a scenario."""

def cell_map(scenario: CompiledScenario, side: int) -> dict[str, Any]:
    """Returns a map of a cell's mean SNR: `axis_m`, `snr_db` and `sites_m`.

    `snr_db` has one row after the other from the south, NaN outside the cell.

    Raises:
        ScenarioError: the scenario's radio has no cell.
    """

def era_switches() -> list[list[str]]:
    """Returns the defaults of classic TCP that depend on the era, in order of time.

    Each has the key below `tcp.classic`, ns-2's variable, the day of the change, the default before
    and after as JSON, and the meaning.
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

        `recorded` has the lists of recordings as arrays, each with its owner: the number of a group
        of users, or `down` or `up` of `radio.trace`. `file` is the scenario as its file alone gave
        it.

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
        """Returns the scenario without some dotted keys, and with overrides `key.path=value`."""

    def planned(
        self, runs: int | None = None, precision: float | None = None, seed: int | None = None
    ) -> CompiledScenario:
        """Returns the scenario with these values in place of its own.

        `runs` removes the precision.
        """

    @property
    def name(self) -> str:
        """Name of the scenario, from its key `name`."""

    @property
    def seed(self) -> int:
        """Seed of all random streams."""

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
    def user_count(self) -> int:
        """Number of users in all groups."""

    @property
    def unread(self) -> bool:
        """True if the scenario names a file whose content it does not contain."""

    @property
    def has_sweep(self) -> bool:
        """True if the file that the scenario was read from has a `[sweep]` table."""

    def superfluous(self) -> list[str]:
        """Returns the keys that the file sets to their defaults and that have no effect in it.

        Each entry has the form `file:line: key: why`.
        """

    def to_json(self) -> str:
        """Returns the scenario with every default filled in, as JSON."""

    def to_bare_json(self) -> str:
        """Returns the scenario as `to_json` does, without the lists that came as `recorded`."""

    def to_toml(self) -> str:
        """Returns the scenario with every default filled in, as TOML."""

    def warnings(self) -> list[str]:
        """Returns warnings about values that are allowed but doubtful, each as `key: effect`."""

    def run(self, seed: int, run: int, control: Control) -> dict[str, dict[str, Any]]:
        """Simulates one replication. Returns values by table and column.

        A column is a NumPy array of one dimension, or a list of str.

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
        """Simulates as `run` does, and writes the packets that pass server, phones and proxy.

        Args:
            seed: seed of the random streams.
            run: number of the replication.
            control: stops the replication; the file then holds the packets so far.
            path: the pcapng file.
            snap_length: bytes kept of each packet, 80 to 65535; None keeps the headers.
            interfaces: interfaces whose packets are kept: `server`, `phone`, `proxy`; empty for
                all.
            radio: capture at `rnc` and `node_b` too, with comments on packets.
            causes: users for whose transfers comments state the critical path.

        Raises:
            OSError: the file cannot be written, or is incomplete; its content can then be read.
            ValueError: the snap length is out of range, or there is no such interface.
        """

    def explain(
        self, seed: int, run: int, user: int, transfer: int, control: Control
    ) -> dict[str, dict[str, Any]]:
        """Simulates a replication until a user's transfer is complete, and explains the transfer.

        Returns:
            `transfer`, a table of one row, and `spans`, its critical path. A text column of `spans`
            is an array of indices into a list, and the list.

        Raises:
            ValueError: there is no such user or transfer.
            Cancelled: `control` was cancelled.
        """

def hsdpa_blocks(category: int) -> list[tuple[int, int, int]]:
    """Returns CQI, bits and codes of a UE category's blocks from CQI 1 on, while they grow."""

def causes() -> list[tuple[str, str]]:
    """Returns name and meaning of every cause that time on a critical path can have."""

def document(text: str, file: str) -> str:
    """Returns the content of a TOML text as JSON, in its order; checks only its syntax."""

def line_of(text: str, path: list[str]) -> int | None:
    """Returns the line, from 1, of the value at a path of keys.

    If the value is missing, the line of the closest enclosing part is returned.
    """

def resolve(json: str) -> str:
    """Returns a partial scenario with every default filled in; both are JSON."""

def metrics() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Returns the tables of a run: name, meaning, and name, unit and meaning of each column.

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
    """Returns the tables of a timeline, in the form of `metrics`."""

def read_error_model(text: str, file: str) -> str:
    """Returns a radio's `errors` as JSON from a model file's text.

    `file` is its name in messages.
    """

def link_schema() -> str:
    """Returns the JSON Schema (draft 2020-12) of a link experiment."""

def link_resolve(json: str) -> tuple[str, str]:
    """Returns a link experiment with every default and its service filled in, as JSON."""

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
        watch: called a few times a second with the bits and the block errors so far.
        portable: use no instructions beyond the platform's baseline; does not affect the results.

    Returns:
        For `bits`, `pdus`, `blocks`, `raw` and `signalling` a dict of `trials`, `errors`, `rate`,
        `ci95_low` and `ci95_high`; further `undetected`, `iterations`, `air_s`, the array
        `pdu_errors` (1 is a lost PDU), and `interrupted`, which Ctrl-C makes true.
    """

def version() -> str:
    """Returns the version of the core."""

def wcdma_sinr(
    path: float, own_cell: float, other_cells: float, spreading: float, eb_n0: float
) -> float:
    """Returns the average SINR of a path."""

def wcdma_ber(gammas: list[float]) -> float:
    """Returns the bit error rate over paths with these mean signal-to-noise ratios."""

def wcdma_frame(ber: float, bits: int, correctable: int) -> tuple[float, float]:
    """Returns the probabilities of at most and of more than `correctable` errors in a frame."""

def wcdma_check_bits(bits: int, correctable: int) -> int | None:
    """Returns the number of check bits of a code that corrects a number of errors.

    Returns None if no data would be left.
    """

def wcdma_shares(scenario: CompiledScenario) -> list[float]:
    """Returns the share of each path in a scenario's power delay profile."""

def wcdma_rates(
    scenario: CompiledScenario, most: int, seed: int, run: int
) -> tuple[list[list[int]], list[list[float]], float]:
    """Returns rates and frame error rates for 1 to `most` active connections, and alpha."""

def wcdma_mean_factor(scenario: CompiledScenario, places: int) -> float:
    """Returns the interference factor of the mean-sense model that replaces a scenario's map."""
