/** Colours of causes and packets, equal to those of the reports (`nodeb.answer.paints`; a test compares them). */

/** Hue of a family of causes, or of a kind of packets, on light and on dark pages. */
type Hue = readonly [light: string, dark: string];

export const FAMILIES: Record<string, Hue> = {
  start: ["#582e64", "#a068a8"],
  window: ["#1c44aa", "#619dfa"],
  air: ["#b94004", "#fc8a32"],
  move: ["#4fa08c", "#8bd7b3"],
  turn: ["#bf8604", "#f2dd5a"],
  loss: ["#850815", "#dc3f4a"],
  host: ["#6c6c6c", "#9f9f9f"],
};

export const PACKETS: Record<string, Hue> = {
  data: ["#2e2e2e", "#e5f0fc"],
  ack: ["#777777", "#747474"],
  ask: ["#09596c", "#7dcec9"],
  again: ["#de4fc6", "#de5ec7"],
  lost: ["#ae1f04", "#e12a04"],
};

const MEMBERS: Record<string, readonly string[]> = {
  start: ["handshake", "request", "channel set-up and release"],
  window: [
    ...["window: slow start", "window: congestion avoidance", "delayed ACK", "window: receiver", "window: proxy"],
    "window: send buffer",
  ],
  air: ["RLC retransmission", "HARQ round trips", "reordering wait"],
  move: ["transmission", "propagation", "segmentation"],
  turn: [
    ...["waiting for the scheduler", "queue behind others", "credits", "queue behind own data", "handover"],
    ...["uplink grant", "DRX"],
  ],
  loss: ["recovery", "timeout"],
  host: ["application", "server", "pacing"],
};

/** Fill of a cause: CSS class, family, and texture (its position in the family). */
export interface Paint {
  readonly name: string;
  readonly family: string;
  readonly texture: number;
}

export const PAINTS: Record<string, Paint> = Object.fromEntries(
  Object.entries(MEMBERS).flatMap(([family, members]) =>
    members.map((cause, texture) => [cause, { name: className(cause), family, texture }]),
  ),
);

/** Returns the CSS class that fills a cause; one class for several causes together. */
export function paintOf(cause: string): string {
  return PAINTS[cause]?.name ?? "k-many";
}

function className(cause: string): string {
  return `k-${cause.replace("window: ", "").toLowerCase().replaceAll(" ", "-")}`;
}

/** Returns the style sheet of all paints. */
export function paintSheet(): string {
  const hues = (shade: 0 | 1) =>
    [
      ...Object.entries(FAMILIES).map(([name, hue]) => `--k-${name}:${hue[shade]}`),
      ...Object.entries(PACKETS).map(([name, hue]) => `--${name}:${hue[shade]}`),
    ].join(";");
  const all = Object.values(PAINTS);
  const families = all.map(({ name, family }) => `.${name}{--k:var(--k-${family})}`).join("");
  const textures = TEXTURES.map((rule, texture) => {
    const names = all.filter((one) => one.texture === texture).map(({ name }) => `.${name}`);
    return rule && names.length ? `${names.join(",")}{${rule}}` : "";
  }).join("");
  return `:root{${hues(0)};--k-rest:#8b95a1;--k-base:#fff}
@media (prefers-color-scheme:dark){:root{${hues(1)};--k-rest:#7c8793;--k-base:#0d1117}}
:where(.c,.bar,.strip i,.strip u){--k:var(--accent);--pale:color-mix(in srgb,var(--k) 30%,var(--k-base));background:var(--k)}
${families}.k-many{--k:var(--k-rest)}${textures}`;
}

/** Declarations by texture: solid, striped, dotted, thinly striped backwards, lined, crossed, upright lines. */
const TEXTURES = [
  "",
  "background:repeating-linear-gradient(135deg,var(--k) 0 3.2px,var(--pale) 3.2px 6px)!important",
  "background:radial-gradient(var(--k) 40%,var(--pale) 46%) 0 0/5px 5px!important;box-shadow:inset 0 0 0 1px var(--k)",
  "background:repeating-linear-gradient(45deg,var(--k) 0 1.6px,var(--pale) 1.6px 5px)!important;box-shadow:inset 0 0 0 1px var(--k)",
  "background:repeating-linear-gradient(0deg,var(--k) 0 2px,var(--pale) 2px 5px)!important",
  "background:repeating-linear-gradient(45deg,var(--k) 0 1.2px,transparent 1.2px 5px),repeating-linear-gradient(135deg,var(--k) 0 1.2px,var(--pale) 1.2px 5px)!important",
  "background:repeating-linear-gradient(90deg,var(--k) 0 2px,var(--pale) 2px 5px)!important",
];

/** Returns the value of a colour of the page, such as `--accent`, for canvases. */
export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
