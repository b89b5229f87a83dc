/** Returns what the browser lacks to run the simulator, as a sentence; empty if it lacks nothing. */
export function missing(): string {
  const needed: readonly [has: boolean, name: string][] = [
    [typeof WebAssembly === "object", "WebAssembly"],
    [typeof Worker === "function", "workers"],
    [typeof CompressionStream === "function", "compression of streams"],
  ];
  const lacking = needed.filter(([has]) => !has).map(([, name]) => name);
  if (!lacking.length) return "";
  return `The simulator runs in the browser and needs ${lacking.join(" and ")}, which this browser does not have or does not allow here; Firefox, Chrome and Safari of 2023 or newer have them.`;
}
