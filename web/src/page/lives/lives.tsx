/** Lives of packets from the server to the application: simulated when the reader gets to them. */

import { useEffect, useRef, useState } from "preact/hooks";

import { type Engine, EngineError, type Life } from "../../core/api";
import { numbers } from "../../core/columns";
import { Newest } from "../../core/newest";
import { number } from "../answer/numbers";
import { isDark, onZoomKey, zoomed } from "../figures/time";
import type { First } from "../simulation";
import { LifeCanvas } from "./canvas";

/** Number of events to show at most, and the number of events of a packet. */
const MOST_EVENTS = 150_000;
const EVENTS_PER_PACKET = 25;

interface LivesProps {
  readonly engine: Engine;
  readonly text: string;
  readonly first: First;
  readonly user: number;
}

export function Lives({ engine, text, first, user }: LivesProps) {
  const parent = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isNear, setNear] = useState(false);
  const [life, setLife] = useState<{ life: Life; first: First }>();
  const [problem, setProblem] = useState("");
  const [told, setTold] = useState("");
  const drawing = useRef<LifeCanvas>(undefined);
  const newest = useRef(new Newest());
  const { endS } = first.replication;

  useEffect(() => {
    const seeing = new IntersectionObserver(([entry]) => setNear(entry!.isIntersecting), { rootMargin: "200px" });
    seeing.observe(parent.current!);
    return () => seeing.disconnect();
  }, []);

  useEffect(() => {
    if (!isNear || life?.first === first) return;
    const calling = { signal: newest.current.signal() };
    const untilS = windowOf(first);
    engine
      .life({ text, user, toS: untilS, most: 2 * MOST_EVENTS }, calling)
      .then((found) => {
        setLife({ life: found, first });
        setProblem(untilS < endS ? `Shown are the first ${number(untilS, "s")}: the whole run has too many packets.` : "");
      })
      .catch((error: unknown) => {
        if (!(error instanceof EngineError && error.kind === "cancelled")) setProblem(String((error as Error).message));
      });
  }, [isNear, first]);

  useEffect(() => {
    if (!life) return;
    const made = new LifeCanvas(canvas.current!, life.life, life.first.scenario, endS, setTold);
    drawing.current = made;
    return () => made.close();
  }, [life]);

  const span = zoomed.value;
  useEffect(() => void drawing.current?.draw(), [span]);
  useEffect(() => drawing.current?.repaint(), [isDark.value]);

  return (
    <figure class="lives" ref={parent}>
      <figcaption>
        <b>Packets on their way</b>{" "}
        <small>from the server to the application; level lines wait. Wheel or + and −: zoom; drag or arrows: move</small>
      </figcaption>
      <div class="stage" onKeyDown={(event) => onZoomKey(event, endS)}>
        {/* A new canvas for each life, as its listeners belong to the old one. */}
        <canvas key={life ? life.first.replication.endS : 0} ref={canvas} tabIndex={0} role="img" aria-label={sentence(life?.life, endS)} />
        {told && <div class="tip" role="status">{told}</div>}
      </div>
      {problem && <p class="note">{problem}</p>}
      <ul class="legend" aria-label="Kinds of packets and blocks">
        <li><i class="line data" />data</li>
        <li><i class="line ack" />ACK</li>
        <li><i class="line ask" />request</li>
        <li><i class="line again" />sent again</li>
        <li><i class="cross" />lost</li>
        <li><i class="box good" />block received</li>
        <li><i class="box bad" />block failed</li>
      </ul>
    </figure>
  );
}

/** Returns the time, s, up to which a run's lives have few enough events. */
function windowOf({ replication }: First): number {
  const packets = numbers(replication.tables.get("flows")!, "packets_sent").reduce((sum, one) => sum + one, 0);
  const share = MOST_EVENTS / Math.max(EVENTS_PER_PACKET * packets, 1);
  return share >= 1 ? replication.endS : replication.endS * share;
}

function sentence(life: Life | undefined, endS: number): string {
  const packets = life?.tables.get("packets")?.rows;
  return packets === undefined ? "Lives of packets, not simulated yet" : `${packets} packets on their way from the server to the application within ${number(endS, "s")}`;
}
