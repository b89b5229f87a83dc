/** Exercise: a question, a field or choices, and the verdict of a simulation. */

import { useId, useState } from "preact/hooks";

import { check, type ExerciseAbout, type Verdict } from "./check";
import { simulator } from "./simulator";

export function Exercise({ about }: { about: ExerciseAbout }) {
  const [given, setGiven] = useState("");
  const [verdict, setVerdict] = useState<Verdict | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    const number = numberIn(given);
    if (number === undefined) return setVerdict({ right: false, text: about.answer ? "give a number, such as 1.5." : "choose an answer." });
    setBusy(true);
    try {
      setVerdict(await check(about, number, await simulator()));
    } catch (error) {
      setVerdict({ right: false, text: `the simulation failed: ${error instanceof Error ? error.message : String(error)}` });
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="exercise" onSubmit={(event) => void submit(event)} aria-busy={isBusy}>
      <Code text={about.question} />
      {about.choices ? <Choices about={about} onChange={setGiven} /> : <NumberField about={about} value={given} onChange={setGiven} />}
      <button type="submit" disabled={isBusy}>
        {isBusy ? "Simulating …" : "Check"}
      </button>
      <p role="status" class={verdict ? (verdict.right ? "right" : "wrong") : ""}>
        {verdict && <Code text={`${verdict.right ? "Right:" : "Not yet:"} ${verdict.text}`} isInline />}
      </p>
    </form>
  );
}

function NumberField({ about, value, onChange }: { about: ExerciseAbout; value: string; onChange: (text: string) => void }) {
  return (
    <label>
      <input type="text" inputMode="decimal" size={8} value={value} aria-label={`Answer${about.unit ? ` in ${about.unit}` : ""}`} onInput={(event) => onChange(event.currentTarget.value)} /> {about.unit}
    </label>
  );
}

function Choices({ about, onChange }: { about: ExerciseAbout; onChange: (text: string) => void }) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={about.question}>
      {about.choices!.map(({ text }, at) => (
        <label key={text}>
          <input type="radio" name={name} onChange={() => onChange(String(at + 1))} /> <Code text={text} isInline />
        </label>
      ))}
    </div>
  );
}

/** A text in which parts between backticks are code. */
function Code({ text, isInline }: { text: string; isInline?: boolean }) {
  const parts = text.split("`").map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part));
  return isInline ? <>{parts}</> : <p>{parts}</p>;
}

/** Returns the number at the begin of a text, with a point or a comma; undefined if there is none. */
function numberIn(text: string): number | undefined {
  const found = /^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?/i.exec(text.trim());
  return found ? Number(found[0].replace(",", ".")) : undefined;
}
