"""JSON Schema of a scenario file: the schema of a scenario, extended by a `[sweep]` table."""

from __future__ import annotations

import json
from typing import Any

from nodeb import _core
from nodeb.sweep.axes import MAX_STEPS, SCALES, TABLE, TOGETHER

__all__ = ["file_schema"]

END = {"type": ["number", "string"], "description": "A number, or text with a unit."}
RANGE = {
    "type": "object",
    "description": "Equally spaced values, both ends among them.",
    "properties": {
        "from": END,
        "to": END,
        "steps": {"type": "integer", "minimum": 2, "maximum": MAX_STEPS},
        "scale": {"enum": list(SCALES), "default": SCALES[0]},
    },
    "required": ["from", "to", "steps"],
    "additionalProperties": False,
}
VALUES = {
    "description": "What a key of the scenario takes: a list, a range, or keys below this one.",
    "anyOf": [
        {"type": "array", "minItems": 1},
        {"$ref": "#/$defs/SweepRange"},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/SweepValues"}},
    ],
}
SWEEP: dict[str, Any] = {
    "type": "object",
    "description": "What `nodeb sweep` varies: dotted keys of the scenario with their values. "
    "All combinations are simulated.",
    "properties": {
        TOGETHER: {
            "type": "array",
            "description": "Keys that change in lockstep.",
            "items": {"type": "object", "additionalProperties": {"$ref": "#/$defs/SweepValues"}},
        }
    },
    "additionalProperties": {"$ref": "#/$defs/SweepValues"},
}


def file_schema() -> str:
    schema = json.loads(_core.schema())
    schema["properties"][TABLE] = SWEEP
    schema["$defs"] |= {"SweepRange": RANGE, "SweepValues": VALUES}
    return json.dumps(schema)
