/** Entry of pages with live figures and exercises: fills their elements. */

import { type ComponentChild, render } from "preact";

import { paintSheet } from "../page/figures/paints";
import { isDark } from "../page/figures/time";
import { missing } from "../page/support";
import type { ExerciseAbout } from "./check";
import { Exercise } from "./exercise";
import { Figure, type FigureAbout } from "./figure";
import { simulator } from "./simulator";
import "./style.css";

/** Returns the description in an element, as `docs/live.py` writes it. */
function aboutIn<T>(element: Element): T {
  return JSON.parse(element.querySelector("script")!.textContent!) as T;
}

function fill(element: Element, content: ComponentChild): void {
  element.replaceChildren();
  render(content, element);
}

/** Starts a figure when it comes into view. */
function watch(element: Element): void {
  const about = aboutIn<FigureAbout>(element);
  const watching = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watching.disconnect();
    simulator().then(
      (engine) => fill(element, <Figure about={about} engine={engine} />),
      (error: unknown) => fill(element, <p role="alert">The simulator did not start: {error instanceof Error ? error.message : String(error)}</p>),
    );
  });
  watching.observe(element);
}

/** Draws in the colours of the page's scheme, which readers can switch. */
function followScheme(): void {
  const update = () => {
    const scheme = document.body.dataset["mdColorScheme"];
    if (scheme) isDark.value = scheme === "slate";
  };
  new MutationObserver(update).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  update();
}

function begin(): void {
  const problem = missing();
  if (problem) {
    for (const element of document.querySelectorAll("nodeb-live, nodeb-exercise")) element.append(` ${problem}`);
    return;
  }
  document.head.append(Object.assign(document.createElement("style"), { textContent: paintSheet() }));
  followScheme();
  document.querySelectorAll("nodeb-live").forEach(watch);
  for (const element of document.querySelectorAll("nodeb-exercise")) fill(element, <Exercise about={aboutIn<ExerciseAbout>(element)} />);
}

begin();
