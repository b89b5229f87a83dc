/** Dialog that shares the page's scenarios and exports them and their results. */

import { useEffect, useRef, useState } from "preact/hooks";

interface ShareProps {
  /** Texts that can be copied or saved, by name, with a warning if others cannot use one. */
  readonly texts: () => Promise<Record<string, { readonly content: string; readonly file: string; readonly warning?: string }>>;
  /** Returns the picture of the answer. */
  readonly picture: () => Promise<Blob>;
}

export function Share({ texts, picture }: ShareProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [known, setKnown] = useState<Awaited<ReturnType<ShareProps["texts"]>>>({});
  const [name, setName] = useState("Link");
  const [said, setSaid] = useState("");
  const shown = known[name];

  const open = async () => {
    setKnown(await texts());
    setSaid("");
    dialog.current!.showModal();
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(shown!.content);
      setSaid("Copied.");
    } catch {
      setSaid("The browser does not let the page copy: select the text and copy it yourself.");
    }
  };
  const savePicture = async () => {
    try {
      save(await picture(), "nodeb.png");
    } catch (error) {
      setSaid(String((error as Error).message));
    }
  };
  useEffect(() => setSaid(""), [name]);

  return (
    <>
      <button type="button" onClick={() => void open()}>
        Share …
      </button>
      <dialog ref={dialog} aria-labelledby="share-title">
        <h2 id="share-title">Share and export</h2>
        <div class="choices" role="group" aria-label="Form">
          {Object.keys(known).map((one) => (
            <button key={one} type="button" aria-pressed={one === name} onClick={() => setName(one)}>
              {one}
            </button>
          ))}
        </div>
        <textarea readOnly rows={10} aria-label={name} value={shown?.content ?? ""} />
        {shown?.warning && <p class="warning">{shown.warning}</p>}
        <div class="choices">
          <button type="button" onClick={() => void copy()}>
            Copy
          </button>
          <button type="button" onClick={() => save(new Blob([shown?.content ?? ""], { type: "text/plain" }), shown?.file ?? "")}>
            Save as {shown?.file}
          </button>
          <button type="button" onClick={() => void savePicture()}>
            Save the picture (PNG)
          </button>
          <button type="button" onClick={() => dialog.current!.close()}>
            Close
          </button>
        </div>
        <p role="status">{said}</p>
      </dialog>
    </>
  );
}

function save(blob: Blob, file: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
