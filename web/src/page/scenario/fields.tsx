/** Controls of single values: a slider with its number, a list, a switch, a text. */

import { useId, useMemo, useRef } from "preact/hooks";

import { isToml, tomlOf } from "./document";
import { converted, inBaseUnit, linear, logarithmic, parseQuantity, type Quantity, type Slide, STEPS, squared, written } from "./quantity";
import type { Option, Shape } from "./schema";

export interface FieldProps<T> {
  readonly label: string;
  readonly about: string;
  readonly value: T;
  /** Default of the key: the middle of a slider's scale. */
  readonly usual: unknown;
  /** Receives the new value as TOML. */
  readonly onChange: (toml: string) => void;
}

type QuantityShape = Extract<Shape, { kind: "quantity" }>;
type NumberShape = Extract<Shape, { kind: "number" }>;

/** Slider, number and unit of a quantity such as "110 ms". */
export function QuantityField({ shape, value, ...field }: FieldProps<string> & { shape: QuantityShape }) {
  const now = parseQuantity(value);
  const middle = useMiddle(field.usual, now);
  if (!now) return <TextField value={value} {...field} />;
  const change = (number: number) => field.onChange(JSON.stringify(written({ value: number, unit: now.unit })));
  const slide = logarithmic(converted(middle, now.unit).value, false);
  return (
    <Labelled {...field}>
      {(id) => (
        <>
          <Slider id={id} slide={slide} value={now.value} text={written(now)} onChange={change} />
          <NumberInput label={`${field.label}, number`} value={now.value} least={0} onChange={change} />
          <select
            aria-label={`${field.label}, unit`}
            value={now.unit}
            onChange={(event) => field.onChange(JSON.stringify(written(converted(now, event.currentTarget.value))))}
          >
            {shape.units.map((unit) => <option key={unit}>{unit}</option>)}
          </select>
        </>
      )}
    </Labelled>
  );
}

/**
 * Ratio of a value to the middle of its slider's scale from which on the value becomes the middle. It is slightly above
 * the end of the scale, 100.
 */
const MAX_RATIO = 101;

/** Returns the middle of a slider's scale: the key's default, or the value where that is far from it. */
function useMiddle(usual: unknown, now: Quantity | undefined): Quantity {
  const middle = useRef<Quantity | undefined>(typeof usual === "string" ? parseQuantity(usual) : undefined);
  if (now && inBaseUnit(now) > 0) {
    const ratio = middle.current ? inBaseUnit(now) / inBaseUnit(middle.current) : Infinity;
    if (!(ratio < MAX_RATIO && ratio > 1 / MAX_RATIO)) middle.current = now;
  }
  return middle.current ?? { value: 1, unit: now?.unit ?? "" };
}

/** Slider and number of a plain number. */
export function NumberField({ shape, value, ...field }: FieldProps<number> & { shape: NumberShape }) {
  const slide = useMemo(() => slideOf(shape, field.label, Number(field.usual ?? value)), [shape.least, shape.most, field.usual]);
  const change = (number: number) => field.onChange(String(number));
  return (
    <Labelled {...field}>
      {(id) => (
        <>
          <Slider id={id} slide={slide} value={value} text={String(value)} onChange={change} />
          <NumberInput
            label={`${field.label}, number`}
            value={value}
            least={shape.least}
            most={shape.most}
            isWhole={shape.isWhole}
            onChange={change}
          />
        </>
      )}
    </Labelled>
  );
}

function slideOf({ isWhole, least, most }: NumberShape, label: string, usual: number): Slide {
  if (least !== undefined && most !== undefined && most <= 1) return squared(least, most);
  if (least !== undefined && most !== undefined && most - least <= STEPS) return linear(least, most, isWhole ? 0 : 3);
  if (usual < 0 || /\bdbm?\b/.test(label)) return linear(usual - 30, usual + 30, 1);
  return logarithmic(usual, isWhole, least ?? 0);
}

export function SwitchField({ value, ...field }: FieldProps<boolean>) {
  return (
    <Labelled {...field}>
      {(id) => (
        <input
          id={id}
          type="checkbox"
          role="switch"
          checked={value}
          onChange={(event) => field.onChange(String(event.currentTarget.checked))}
        />
      )}
    </Labelled>
  );
}

/** List of names with their meanings. */
export function ChoiceField({ options, value, ...field }: FieldProps<string> & { options: readonly Option[] }) {
  const chosen = options.find((one) => one.name === value);
  return (
    <Labelled {...field}>
      {(id) => (
        <>
          <select id={id} value={value} onChange={(event) => field.onChange(event.currentTarget.value)}>
            {options.map((one) => (
              <option key={one.name} value={one.name} title={one.description}>
                {spaced(one.name) || "one value"}
              </option>
            ))}
          </select>
          {chosen?.description && <small class="hint">{chosen.description}</small>}
        </>
      )}
    </Labelled>
  );
}

export function TextField({ value, ...field }: FieldProps<string>) {
  return (
    <Labelled {...field}>
      {(id) => (
        <input
          id={id}
          type="text"
          value={value}
          spellcheck={false}
          onChange={(event) => field.onChange(JSON.stringify(event.currentTarget.value))}
        />
      )}
    </Labelled>
  );
}

/** Any value as TOML, such as a list. */
export function ValueField({ value, ...field }: FieldProps<unknown>) {
  const change = (input: HTMLInputElement) => {
    const isValid = isToml(input.value);
    input.setCustomValidity(isValid ? "" : "not a value in TOML; expected a number, a text in quotes or a list");
    if (isValid) field.onChange(input.value);
    else input.reportValidity();
  };
  return (
    <Labelled {...field}>
      {(id) => (
        <input id={id} type="text" class="toml" value={tomlOf(value)} spellcheck={false} onChange={(event) => change(event.currentTarget)} />
      )}
    </Labelled>
  );
}

/** Returns a key as words. */
export function spaced(key: string): string {
  return key.replaceAll("_", " ");
}

interface LabelledProps {
  readonly label: string;
  readonly about: string;
  readonly children: (id: string) => preact.ComponentChildren;
}

function Labelled({ label, about, children }: LabelledProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} title={about}>
        {label}
      </label>
      <div class="inputs">{children(id)}</div>
    </div>
  );
}

interface SliderProps {
  readonly id: string;
  readonly slide: Slide;
  readonly value: number;
  readonly text: string;
  readonly onChange: (value: number) => void;
}

function Slider({ id, slide, value, text, onChange }: SliderProps) {
  return (
    <input
      id={id}
      type="range"
      min={0}
      max={STEPS}
      step={1}
      value={Number.isFinite(value) ? slide.positionOf(value) : 0}
      aria-valuetext={text}
      onInput={(event) => onChange(slide.valueAt(Number(event.currentTarget.value)))}
    />
  );
}

interface NumberInputProps {
  readonly label: string;
  readonly value: number;
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  readonly isWhole?: boolean;
  readonly onChange: (value: number) => void;
}

function NumberInput({ label, value, least, most, isWhole = false, onChange }: NumberInputProps) {
  const change = (text: string) => {
    const number = Number(text);
    if (text.trim() && Number.isFinite(number)) onChange(isWhole ? Math.round(number) : number);
  };
  return (
    <input
      type="number"
      aria-label={label}
      value={Number.isFinite(value) ? value : ""}
      min={least}
      max={most}
      step={isWhole ? 1 : "any"}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
