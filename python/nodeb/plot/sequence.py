"""Figure of the single packets of a user over time."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from nodeb.answer.paints import FAMILIES, PACKETS
from nodeb.plot.series import TIME_LABEL, from_zero, recorded, titled
from nodeb.plot.style import SIZE, legend, new_figure
from nodeb.plot.users import chosen
from nodeb.results.result import Result

__all__ = ["sequence"]

# Label, marker, colour and size for each kind of event.
EVENTS = {
    "send": ("sent", ".", PACKETS["data"].light, 5),
    "resend": ("sent again", "+", PACKETS["again"].light, 7),
    "drop": ("dropped", "x", PACKETS["lost"].light, 6),
    "deliver": ("arrived", ".", FAMILIES["move"].light, 3),
}


def sequence(
    result: Result, user: int | None = None, run: int = 0, size: tuple[float, float] = SIZE
) -> Figure:
    """Returns a figure of packet numbers: sent, retransmitted, dropped, arrived and acknowledged.

    Args:
        result: a result whose scenario has `record.segments = true`.
        user: index of a user; None for the first user; several users would overlap.
        run: index of the replication.
        size: width and height in inches.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    table = recorded(result, "segments", run)
    first = int(np.min(result.flows["user"]))
    (number,) = chosen(result, first if user is None else user, run)
    rows = table.where(np.asarray(table["user"]) == number)
    figure, axes = new_figure(
        titled(result, "Packets", number, run), TIME_LABEL, "Packet number", size
    )
    event, again = np.asarray(rows["event"]), np.asarray(rows["retransmission"], dtype=bool)
    acks = rows.where(event == "ack")
    axes.step(
        acks["t_s"],
        acks["seq"],
        where="post",
        color=PACKETS["ack"].light,
        linewidth=1.2,
        label="acknowledged",
    )
    shown = {
        "send": (event == "send") & ~again,
        "resend": (event == "send") & again,
        "drop": event == "drop",
        "deliver": event == "deliver",
    }
    for kind, these in shown.items():
        label, marker, paint, dot = EVENTS[kind]
        part = rows.where(these)
        if len(part):
            axes.plot(
                part["t_s"],
                part["seq"],
                linestyle="none",
                marker=marker,
                color=paint,
                markersize=dot,
                label=label,
            )
    from_zero(axes)
    legend(axes, columns=3)
    return figure
