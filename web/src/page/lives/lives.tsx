/** Packet timelines from the server to the application, simulated when they come into view. */

import { useEffect, useRef, useState } from "preact/hooks";

import { type Engine, EngineError, type Life } from "../../core/api";
import { numbers } from "../../core/columns";
import { isDark, onZoomKey, timeText, zoomed } from "../figures/time";
import type { First } from "../simulation";
import { LifeCanvas } from "./canvas";

/** Number of events for which the shown time is chosen. Since their number is estimated, twice as many are accepted. */
const MAX_EVENTS = 150_000;
/** Estimated number of events of a packet. */
const EVENTS_PER_PACKET = 25;

interface LivesProps {
  readonly engine: Engine;
  readonly first: First;
}

export function Lives({ engine, first }: LivesProps) {
  const parent = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isNear, setNear] = useState(false);
  const [life, setLife] = useState<{ life: Life; first: First; number: number }>();
  const [problem, setProblem] = useState("");
  const [tip, setTip] = useState("");
  const drawing = useRef<LifeCanvas>(undefined);
  const count = useRef(0);
  const { endS } = first.replication;

  useEffect(() => {
    const seeing = new IntersectionObserver(([entry]) => setNear(entry!.isIntersecting), { rootMargin: "200px" });
    seeing.observe(parent.current!);
    return () => seeing.disconnect();
  }, []);

  useEffect(() => {
    if (!isNear || life?.first === first) return;
    const stopping = new AbortController();
    const untilS = windowOf(first);
    engine
      .life({ text: first.text, user: first.user, toS: untilS, most: 2 * MAX_EVENTS }, { signal: stopping.signal })
      .then((found) => {
        setLife({ life: found, first, number: ++count.current });
        setProblem(untilS < endS ? `Shown are the first ${timeText(untilS)}: the whole run has too many packets.` : "");
      })
      .catch((error: unknown) => {
        if (!(error instanceof EngineError && error.kind === "cancelled")) setProblem(String((error as Error).message));
      });
    return () => stopping.abort();
  }, [isNear, first]);

  useEffect(() => {
    if (!life) return;
    const made = new LifeCanvas(canvas.current!, life.life, life.first.scenario, endS, setTip);
    drawing.current = made;
    return () => made.close();
  }, [life]);

  const span = zoomed.value;
  useEffect(() => drawing.current?.draw(), [span]);
  useEffect(() => drawing.current?.repaint(), [isDark.value]);

  return (
    <figure class="lives" ref={parent}>
      <figcaption>
        <b>Packets on their way</b>{" "}
        <small>from the server to the application; level lines wait. Wheel or + and −: zoom; drag or arrows: move</small>
      </figcaption>
      <div class="stage" onKeyDown={(event) => onZoomKey(event, endS)}>
        {/* A new canvas for each life, as its listeners belong to the old one. */}
        <canvas key={life?.number ?? 0} ref={canvas} tabIndex={0} role="img" aria-label={sentence(life?.life, endS)} />
        {tip && <div class="tip" role="status">{tip}</div>}
      </div>
      {problem && <p class="note">{problem}</p>}
      <ul class="legend" aria-label="Kinds of packets and blocks">
        <li><i class="line data" />data</li>
        <li><i class="line ack" />ACK</li>
        <li><i class="line ask" />request</li>
        <li><i class="line again" />retransmitted</li>
        <li><i class="cross" />lost</li>
        <li><i class="box good" />block received</li>
        <li><i class="box bad" />block failed</li>
      </ul>
    </figure>
  );
}

/** Returns the time, s, up to which the timelines have few enough events. */
function windowOf({ replication, user }: First): number {
  const flows = replication.tables.get("flows")!;
  const packets = numbers(flows, "packets_sent")[numbers(flows, "user").indexOf(user)] ?? 0;
  const share = MAX_EVENTS / Math.max(EVENTS_PER_PACKET * packets, 1);
  return share >= 1 ? replication.endS : replication.endS * share;
}

function sentence(life: Life | undefined, endS: number): string {
  const packets = life?.tables.get("packets")?.rows;
  return packets === undefined ? "Packet timelines, not simulated yet" : `${packets} packets on their way from the server to the application within ${timeText(endS)}`;
}
