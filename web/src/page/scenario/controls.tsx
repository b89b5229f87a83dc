/** Controls made from the schema: one for each key that the scenario has, and a list of keys to add. */

import { createContext } from "preact";
import { useContext, useId } from "preact/hooks";

import { choose } from "./choosing";
import { type Document, tomlOf } from "./document";
import { ChoiceField, NumberField, QuantityField, spaced, SwitchField, TextField, ValueField } from "./fields";
import type { Node, Path, Schema, Shape } from "./schema";

/** Document, schema and callback of all controls of a scenario. */
interface Editing {
  readonly document: Document;
  readonly schema: Schema;
  readonly onEdit: (text: string) => void;
}

const Context = createContext<Editing | undefined>(undefined);

function useEditing(): Editing {
  return useContext(Context)!;
}

/** Keys without a control: the page runs no sweeps. */
const ELSEWHERE = ["sweep"];

export function Controls(editing: Editing) {
  const { document, schema } = editing;
  const keys = Object.keys(document.value).filter((key) => !ELSEWHERE.includes(key));
  const plain = keys.filter((key) => !isTable(document.value[key]));
  return (
    <Context.Provider value={editing}>
      <fieldset>
        <legend>run</legend>
        {plain.map((key) => (
          <Control key={key} path={[key]} node={schema.at([key])} />
        ))}
        <Adding path={[]} node={schema.root} />
      </fieldset>
      {keys
        .filter((key) => isTable(document.value[key]))
        .map((key) => (
          <Control key={key} path={[key]} node={schema.at([key])} />
        ))}
    </Context.Provider>
  );
}

interface ControlProps {
  readonly path: Path;
  readonly node: Node | undefined;
}

/** Control of one key, by the shape of its values. */
function Control({ path, node }: ControlProps) {
  const { document, schema } = useEditing();
  const value = document.at(path);
  if (!node) return <Unknown path={path} />;
  const shape = schema.shape(node);
  if (shape.kind === "table" && isTable(value) && !Array.isArray(value))
    return (
      <Section path={path} about={schema.about(node)}>
        <Table path={path} node={node} />
      </Section>
    );
  if (shape.kind === "tables" && Array.isArray(value)) return <Tables path={path} item={shape.item} count={value.length} />;
  if (shape.kind === "variant") return <VariantControl path={path} node={node} shape={shape} />;
  return (
    <Removable path={path}>
      <Field path={path} node={node} shape={shape} />
    </Removable>
  );
}

function Field({ path, node, shape }: { path: Path; node: Node; shape: Shape }) {
  const { document, schema, onEdit } = useEditing();
  const value = document.at(path);
  const field = {
    label: spaced(String(path.at(-1))),
    about: schema.about(node),
    usual: node.default,
    onChange: (toml: string) => onEdit(document.set(path, toml)),
  };
  if (shape.kind === "quantity" && typeof value === "string") return <QuantityField shape={shape} value={value} {...field} />;
  if (shape.kind === "number" && typeof value === "number") return <NumberField shape={shape} value={value} {...field} />;
  if (shape.kind === "switch" && typeof value === "boolean") return <SwitchField value={value} {...field} />;
  if (shape.kind === "text" && typeof value === "string") return <TextField value={value} {...field} />;
  if (shape.kind === "choice" && typeof value === "string")
    return <ChoiceField options={shape.options} value={value} {...field} onChange={(name) => field.onChange(JSON.stringify(name))} />;
  return <ValueField value={value} {...field} />;
}

/** List of a key's variants, with the keys of the chosen one. */
function VariantControl({ path, node, shape }: { path: Path; node: Node; shape: Extract<Shape, { kind: "variant" }> }) {
  const { document, schema, onEdit } = useEditing();
  const value = document.at(path);
  const bare = shape.bare && schema.shape(shape.bare);
  const isBare = typeof value === "number" || (bare?.kind === "quantity" && typeof value === "string");
  const name = isBare ? "" : typeof value === "string" ? value : Object.keys((value ?? {}) as object)[0];
  const chosen = shape.options.find((one) => one.name === name);
  const options = bare ? [{ name: "", description: "" }, ...shape.options] : shape.options;
  const select = (wanted: string) => {
    const option = shape.options.find((one) => one.name === wanted);
    onEdit(option ? choose(document, schema, path, option) : document.set(path, schema.sample(shape.bare!)));
  };
  return (
    <Section path={path} about={schema.about(node)}>
      <ChoiceField
        label="kind"
        about={schema.about(node)}
        options={options}
        value={name ?? ""}
        usual={undefined}
        onChange={select}
      />
      {isBare && bare && <Field path={path} node={{ ...node, ...shape.bare }} shape={bare} />}
      {chosen && <Table path={[...path, chosen.name]} node={chosen.node} />}
    </Section>
  );
}

/** Controls of a table's keys. */
function Table({ path, node }: { path: Path; node: Node }) {
  const { document, schema } = useEditing();
  const value = document.at(path);
  const keys = value && typeof value === "object" ? Object.keys(value) : [];
  return (
    <>
      {keys.map((key) => (
        <Control key={key} path={[...path, key]} node={schema.at([key], node)} />
      ))}
      <Adding path={path} node={node} />
    </>
  );
}

/** Elements of an array of tables, such as groups of users. */
function Tables({ path, item, count }: { path: Path; item: Node; count: number }) {
  const { document, schema, onEdit } = useEditing();
  const isUsers = path.length === 1 && path[0] === "users";
  return (
    <>
      {Array.from({ length: count }, (_, at) => (
        <Section key={at} path={[...path, at]} about={schema.about(item)} isOnly={count === 1}>
          <Table path={[...path, at]} node={item} />
        </Section>
      ))}
      {isUsers && (
        <button type="button" onClick={() => onEdit(document.addElement(path, 'traffic.ftp.size = "50 kB"'))}>
          Add a group of phones
        </button>
      )}
    </>
  );
}

/** Group of controls with the name of its table. */
function Section({ path, about, isOnly = false, children }: { path: Path; about: string; isOnly?: boolean; children: preact.ComponentChildren }) {
  const { document, onEdit } = useEditing();
  const last = path.at(-1)!;
  const group = typeof last === "number" ? document.at([...path, "name"]) : undefined;
  const name = typeof last === "number" ? `${spaced(String(path.at(-2)))}: ${group ?? last + 1}` : spaced(last);
  return (
    <fieldset>
      <legend title={about}>
        {name}
        {!isOnly && <RemoveButton name={name} onClick={() => onEdit(document.remove(path))} />}
      </legend>
      {children}
    </fieldset>
  );
}

function Removable({ path, children }: { path: Path; children: preact.ComponentChildren }) {
  const { document, onEdit } = useEditing();
  return (
    <div class="removable">
      {children}
      <RemoveButton name={spaced(String(path.at(-1)))} onClick={() => onEdit(document.remove(path))} />
    </div>
  );
}

function RemoveButton({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <button type="button" class="remove" aria-label={`Remove ${name}`} title="Remove: the default applies" onClick={onClick}>
      ×
    </button>
  );
}

/** List of the keys that a table can have but has not. */
function Adding({ path, node }: { path: Path; node: Node }) {
  const { document, schema, onEdit } = useEditing();
  const id = useId();
  const shape = schema.shape(node);
  if (shape.kind !== "table") return null;
  const value = document.at(path) ?? {};
  const isAtTop = path.length === 0;
  const absent = [...shape.keys].filter(([key]) => !(key in (value as object)) && !(isAtTop && ELSEWHERE.includes(key)));
  if (!absent.length) return null;
  const add = (key: string) => onEdit(document.add([...path, key], schema.sample(shape.keys.get(key)!)));
  return (
    <div class="adding">
      <label class="hidden" for={id}>
        Add to {path.map(String).map(spaced).join(" ") || "the scenario"}
      </label>
      <select id={id} value="" onChange={(event) => add(event.currentTarget.value)}>
        <option value="">Add …</option>
        {absent.map(([key, one]) => (
          <option key={key} value={key} title={schema.about(one)}>
            {spaced(key)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Key that scenarios do not have. */
function Unknown({ path }: { path: Path }) {
  const { document } = useEditing();
  return (
    <Removable path={path}>
      <div class="field">
        <span class="label">{spaced(String(path.at(-1)))}</span>
        <div class="inputs">
          <code>{tomlOf(document.at(path))}</code> <small class="hint">unknown key</small>
        </div>
      </div>
    </Removable>
  );
}

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && !(Array.isArray(value) && typeof value[0] !== "object");
}
