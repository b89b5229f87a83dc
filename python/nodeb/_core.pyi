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
    """A scenario is wrong; the message names file, line and key, and is complete."""

class Cancelled(Exception):
    """The replication was cancelled through its `Control`."""

class InternalError(RuntimeError):
    """nodeb itself failed; the message says in what and where, and is complete."""

class LinkError(ValueError):
    """A link cannot be simulated; the arguments are the key and what is wrong with its value."""

@final
class Control:
    """Watches and stops a replication, or a batch of them, from another thread."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """Ask the replication to stop; it raises `Cancelled` soon after."""

    def progress(self) -> float:
        """How much of the replication or the batch is done, from 0 to 1."""

@final
class Emulation:
    """Real packets through a scenario's cell, between TUN devices. Linux only."""

    def __new__(cls) -> Emulation: ...
    def fileno(self) -> int:
        """The socket through which devices come, each with its number as a byte, the server's 0."""

    def stop(self) -> None:
        """Stop the emulation at once. It cannot be resumed."""

    def status(self) -> dict[str, Any]:
        """Return the latest status: times in s, bytes, packets; `cqi` is NaN without a CQI."""

    def forward(self, mtu: int) -> int:
        """Receive two devices and copy packets between them until it is stopped.

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
        """Receive the devices and emulate the scenario until it is stopped or `duration_s` is over.

        `log` is the file of the recording, its header, and the bytes to record of each packet.

        Returns:
            The report and the tables.

        Raises:
            ScenarioError: the scenario cannot be emulated.
            OSError: a system call failed, or the recording is incomplete.
        """

def emulation_tables() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Every table that an emulation has beyond those of a run, as `metrics`. Linux only."""

def flight_header(path: str | os.PathLike[str]) -> bytes:
    """Return the header of a recording. Linux only.

    Raises:
        OSError: the file cannot be read or is not a recording.
    """

def flight_connections(
    path: str | os.PathLike[str], control: Control
) -> tuple[dict[str, dict[str, Any]], int, int, bool]:
    """Return the TCP connections of a recording. Linux only.

    Returns:
        `connections`; the numbers of packets of other protocols and of unknown protocol, of which
        too few bytes were recorded; whether the log is complete.

    Raises:
        Cancelled: through `control`.
        OSError: the log cannot be read.
    """

def flight_packets(
    path: str | os.PathLike[str], control: Control
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Return the headers of a recording's packets. Linux only.

    Returns:
        `packets` by their numbers; whether the log is complete.

    Raises:
        Cancelled: through `control`.
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
    """Replay a recording and explain one of its TCP connections. Linux only.

    Returns:
        As `CompiledScenario.explain`.

    Raises:
        Cancelled: through `control`.
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
    """Replay a recording and return the packet timeline of a window of time. Linux only.

    Returns:
        As `timeline`; `seq` of real packets is their number in the recording.

    Raises:
        Cancelled: through `control`.
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
    """Replay a recording in virtual time. Linux only.

    Args:
        path: the recording.
        scenario: its scenario.
        seed: its seed.
        users: the users of its phones.
        control: receives the progress and can cancel the replay.
        pcap: file (pcapng) for the packets at the interfaces.
        radio: capture at `rnc` and `node_b` too, with comments on packets.

    Returns:
        The report, which says whether the replay equals the recording, and the tables.

    Raises:
        Cancelled: through `control`.
        ScenarioError: the scenario cannot be driven from outside.
        OSError: the log cannot be read or does not fit the scenario.
    """

def read_numbers(
    text: bytes, skip: int, columns: list[int] | None, most: int
) -> list[NDArray[np.float64]]:
    """The columns of a text's lines of numbers from entry number `skip` on.

    Raises:
        ValueError: a line is odd; the arguments are its number and what is wrong with it.
    """

def first_entries(text: bytes, most: int) -> list[tuple[int, list[str]]]:
    """The first entries of a text, each with the number of its line and its words."""

def line_of_entry(text: bytes, entry: int) -> int | None:
    """The number of the line of an entry of a text."""

def fail_on_purpose(what: str) -> None:
    """Fail as a mistake of nodeb's would in doing `what`; for tests.

    Raises:
        InternalError: always.
    """

def schema() -> str:
    """JSON Schema (draft 2020-12) of a scenario."""

def cell_map(scenario: CompiledScenario, side: int) -> dict[str, Any]:
    """Mean SNR of a cell: `axis_m`, `snr_db` (row by row from the south; NaN outside), `sites_m`.

    Raises:
        ScenarioError: the scenario's radio has no cell.
    """

def era_switches() -> list[list[str]]:
    """Defaults of classic TCP that depend on the era, in order of time.

    Key below `tcp.classic`, ns-2's variable, day of the change, default before and after as JSON,
    meaning.
    """

def registry() -> list[tuple[str, str, str]]:
    """Kind, name and one-line description of every registered variant."""

@final
class CompiledScenario:
    """A scenario that was read and checked once, to be simulated any number of times.

    All of its methods may be called from several threads at once; they release the GIL.
    """

    @staticmethod
    def from_json(
        json: str,
        label: str | None = None,
        recorded: list[tuple[int | str, dict[str, Any]]] = ...,
        file: CompiledScenario | None = None,
    ) -> CompiledScenario:
        """Read a partial or complete scenario; `label` is what messages about a run call it.

        `recorded` has the lists of recordings as arrays, each with whose it is: the number of a
        group of users, or `down` or `up` of `radio.trace`. `file` is the scenario as its file
        alone gave it.

        Raises:
            ScenarioError: it is wrong, or names a file that has not been read into it.
        """

    @staticmethod
    def from_toml(text: str, file: str, overrides: list[str]) -> CompiledScenario:
        """Read a TOML text with overrides `key.path=value`; a `[sweep]` table is left aside.

        Raises:
            ScenarioError: it is wrong.
        """

    def with_overrides(self, overrides: list[str], without: list[str] = ...) -> CompiledScenario:
        """Return the scenario without some dotted keys, and with overrides `key.path=value`."""

    def planned(
        self, runs: int | None = None, precision: float | None = None, seed: int | None = None
    ) -> CompiledScenario:
        """Return the scenario with these in place of its own; with `runs` it has no precision."""

    @property
    def name(self) -> str:
        """What the scenario is about."""

    @property
    def seed(self) -> int:
        """Seed of all randomness."""

    @property
    def runs(self) -> int:
        """Number of replications, or the least if there is a precision."""

    @property
    def precision(self) -> float | None:
        """Relative half-width to reach, if the scenario asks for one."""

    @property
    def max_runs(self) -> int:
        """Replications after which `precision` gives up."""

    @property
    def user_count(self) -> int:
        """Number of users of all groups."""

    @property
    def unread(self) -> bool:
        """True if the scenario names a file that has not been read into it."""

    @property
    def has_sweep(self) -> bool:
        """True if the file that the scenario was read from has a `[sweep]` table."""

    def superfluous(self) -> list[str]:
        """Return the keys that the file sets to their defaults and that have no effect in it.

        Each is `file:line: key: why`.
        """

    def to_json(self) -> str:
        """The scenario with every default filled in, as JSON."""

    def to_bare_json(self) -> str:
        """The same without the lists that came as `recorded`."""

    def to_toml(self) -> str:
        """The same as TOML."""

    def warnings(self) -> list[str]:
        """What is allowed and still doubtful, each as `key: what will happen`."""

    def run(self, seed: int, run: int, control: Control) -> dict[str, dict[str, Any]]:
        """Simulate one replication; returns table -> column -> values.

        A column is a NumPy array of one dimension, or a list of str.

        Raises:
            Cancelled: through `control`.
            InternalError: a mistake of nodeb's.
        """

    def run_many(
        self, seed: int, first: int, runs: int, control: Control
    ) -> dict[str, dict[str, Any]]:
        """Simulate `runs` replications from number `first` on, one after the other.

        Returns:
            What `run` returns for each, in one set of columns.
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
        """Simulate as `run` does, and write the packets that pass server, phones and proxy.

        Args:
            seed: seed of the random streams.
            run: number of the replication.
            control: stops the replication; the file then holds the packets so far.
            path: the pcapng file.
            snap_length: bytes kept of each packet, 80 to 65535; None keeps the headers.
            interfaces: where packets are kept, of `server`, `phone` and `proxy`; empty for all.
            radio: capture at `rnc` and `node_b` too, with comments on packets.
            causes: users whose transfers' critical paths comments tell.

        Raises:
            OSError: the file cannot be written, or not all of it; what it holds can be read.
            ValueError: the snap length makes no sense, or there is no such interface.
        """

    def explain(
        self, seed: int, run: int, user: int, transfer: int, control: Control
    ) -> dict[str, dict[str, Any]]:
        """Simulate a replication as far as a user's transfer goes, and explain that.

        Returns:
            `transfer`, of one row, and `spans`, its critical path. A column of texts of the
            latter is an array of places in a list, and the list.

        Raises:
            ValueError: there is no such user or transfer.
            Cancelled: through `control`.
        """

def hsdpa_blocks(category: int) -> list[tuple[int, int, int]]:
    """The blocks of a UE category from CQI 1 on, as long as they grow: CQI, bits and codes."""

def causes() -> list[tuple[str, str]]:
    """Every cause that time on a critical path can have: its name and what it means."""

def document(text: str, file: str) -> str:
    """Everything that a TOML text says, as JSON, in its order; only its form is checked."""

def line_of(text: str, path: list[str]) -> int | None:
    """Line, from 1, of the value at a path of keys, or of what is nearest around it."""

def resolve(json: str) -> str:
    """Resolved scenario (every default filled in) of a partial one, both as JSON."""

def metrics() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Every table that a run can have: its name and meaning, and each column's name, unit, meaning.

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
    """Simulate one replication and return what happens in a window of time.

    Returns:
        `tables` (`events`, `packets`, `hops`, `blocks`: table -> column -> values), `names` (what
        the numbers in a column stand for, by column), `lanes`, `places` (name and the lanes at
        which packets come and leave), `node_b` (its lane), `until_ns`, and `tti_ns`, None without
        TTIs.

    Raises:
        Cancelled: through `control`.
        InternalError: a mistake of nodeb's.
        ValueError: there is no such user, nothing happens in the window, or more than `most`
            events.
    """

def timeline_tables() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Every table of a timeline, as `metrics` tells of those of a run."""

def read_error_model(text: str, file: str) -> str:
    """A radio's `errors`, as JSON, of the text of a model file; `file` is its name in messages."""

def link_schema() -> str:
    """JSON Schema (draft 2020-12) of a link experiment."""

def link_resolve(json: str) -> tuple[str, str]:
    """A link experiment with every default filled in, and its service in full; all as JSON."""

def link_run(
    json: str,
    eb_n0_db: float,
    threads: int,
    watch: Callable[[int, int], None] | None = None,
    portable: bool = False,
) -> dict[str, Any]:
    """Simulate a link experiment at one Eb/N0. Releases the GIL.

    Args:
        json: the experiment.
        eb_n0_db: the point, dB.
        threads: how many work on it; changes no result.
        watch: called a few times a second with the bits and the block errors so far.
        portable: use no instructions beyond the platform's baseline; changes no result.

    Returns:
        For `bits`, `pdus`, `blocks`, `raw` and `signalling` a dict of `trials`, `errors`, `rate`,
        `ci95_low` and `ci95_high`; further `undetected`, `iterations`, `air_s`, the array
        `pdu_errors` (1 is a lost PDU), and `interrupted`, which Ctrl-C makes true.
    """

def version() -> str:
    """Version of the core."""

def wcdma_sinr(
    path: float, own_cell: float, other_cells: float, spreading: float, eb_n0: float
) -> float:
    """Average SINR of a path."""

def wcdma_ber(gammas: list[float]) -> float:
    """Bit error rate over paths with these mean signal-to-noise ratios."""

def wcdma_frame(ber: float, bits: int, correctable: int) -> tuple[float, float]:
    """Probabilities of at most and of more than `correctable` errors in a frame."""

def wcdma_check_bits(bits: int, correctable: int) -> int | None:
    """Check bits of a code that corrects so many errors; None where no data would be left."""

def wcdma_shares(scenario: CompiledScenario) -> list[float]:
    """The share of each path of a scenario's power delay profile."""

def wcdma_rates(
    scenario: CompiledScenario, most: int, seed: int, run: int
) -> tuple[list[list[int]], list[list[float]], float]:
    """For 1 to `most` active connections their rates and frame error rates, and alpha."""

def wcdma_mean_factor(scenario: CompiledScenario, places: int) -> float:
    """The factor of the mean sense that stands for a scenario's map."""
