/** The scenario's text in CodeMirror, with errors in place and completion. */

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { Annotation, type ChangeSpec, EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { completionsOf } from "./completion";
import type { Mistake } from "./mistakes";
import type { Schema } from "./schema";

/** Mark of changes that follow the text of the page. Reported as edits, two texts in quick succession would replace each other for ever. */
const FOLLOWS = Annotation.define<true>();

interface EditorProps {
  readonly label: string;
  readonly text: ReadonlySignal<string>;
  readonly schema: Schema;
  readonly mistakes: readonly Mistake[];
  readonly onEdit: (text: string) => void;
}

export function Editor({ label, text, schema, mistakes, onEdit }: EditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const edit = useRef(onEdit);
  const shown = text.value;
  edit.current = onEdit;

  useEffect(() => {
    const listener = EditorView.updateListener.of((update) => {
      if (update.transactions.some((one) => one.docChanged && !one.annotation(FOLLOWS))) edit.current(update.state.doc.toString());
    });
    view.current = new EditorView({ parent: parent.current!, state: stateOf(shown, label, schema, listener) });
    return () => view.current!.destroy();
  }, []);

  useEffect(() => {
    // Not `shown`: the effect can run after further edits, which it must not undo.
    const change = changeTo(view.current!.state.doc.toString(), text.peek());
    if (change) view.current!.dispatch({ changes: change, annotations: FOLLOWS.of(true) });
  }, [text, shown]);

  useEffect(() => {
    const { state } = view.current!;
    view.current!.dispatch(setDiagnostics(state, mistakes.map((one) => diagnosticOf(state, one))));
  }, [mistakes, shown]);

  return <div class="editor" ref={parent} />;
}

function stateOf(text: string, label: string, schema: Schema, listener: ReturnType<typeof EditorView.updateListener.of>) {
  return EditorState.create({
    doc: text,
    extensions: [
      history(),
      keymap.of([...defaultKeymap, ...historyKeymap, ...completionKeymap]),
      StreamLanguage.define(toml),
      syntaxHighlighting(STYLE),
      autocompletion({ override: [completionsOf(schema)], icons: false }),
      lintGutter(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
      listener,
    ],
  });
}

const STYLE = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)" },
  { tag: tags.propertyName, color: "var(--text)" },
  { tag: [tags.string, tags.number, tags.bool, tags.atom], color: "var(--accent)" },
]);

/** Returns the smallest change from one text to another, so that the cursor stays in its place. */
function changeTo(before: string, after: string): ChangeSpec | undefined {
  if (before === after) return undefined;
  let from = 0;
  while (from < Math.min(before.length, after.length) && before[from] === after[from]) from++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - from;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
}

function diagnosticOf(state: EditorState, { line, text, severity }: Mistake): Diagnostic {
  const at = state.doc.line(Math.min(Math.max(line ?? 1, 1), state.doc.lines));
  return { from: at.from, to: at.to, severity, message: text };
}
