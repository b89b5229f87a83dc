// Texts on the causes that delayed a packet, and the key of their colours.

const MOST_LISTED = 200; // largest number of spans in a table, which then lists the last ones

function swatch(spans, cause) {
  return element("i", undefined, `box c ${spans.paint(cause).name}`);
}

// Fills the list below the picture: causes on the critical path, and the share of each in its time.
function showKey(list, spans) {
  const whole = spans.sums.reduce((sum, one) => sum + one.lasts, 0);
  list.replaceChildren(...spans.sums.map(({ cause, lasts }) => {
    const item = element("li");
    item.append(swatch(spans, cause), `${cause} ${share(lasts, whole)}`);
    return item;
  }));
}

function share(part, whole) {
  const percent = 100 * part / whole;
  return percent < 0.1 ? "< 0.1 %" : `${percent.toFixed(1)} %`;
}

function rows(head, list) {
  const made = element("table"), top = made.createTHead().insertRow(), body = made.createTBody();
  for (const name of head) { const cell = element("th", name); cell.scope = "col"; top.append(cell); }
  for (const cells of list) { const row = body.insertRow(); for (const cell of cells) { const made = element("td"); made.append(cell); row.append(made); } }
  return made;
}

function scrolled(table, label) {
  const scroll = element("div", undefined, "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", label);
  scroll.append(table);
  return scroll;
}

// Returns a section on the critical path up to a packet: the time of each cause, and each span from the request on.
// `pick` selects a packet by its number.
function causesOf(spans, packet, pick) {
  const made = element("section", undefined, "led"), led = spans.ledTo(packet);
  made.append(element("h3", "The causes that led to it"));
  if (!led.length) {
    made.append(element("p", "It is not on the critical path: had it come somewhat later, or earlier, the transfer would have taken as long.", "facts muted"));
    return made;
  }
  const begin = led[0].begin, end = led.at(-1).end;
  made.append(element("p", `Transfer ${led[0].transfer ?? 0} had begun ${spoken(end - begin)} before; that time was spent on:`, "facts muted"));
  const named = cause => { const cell = element("span"); cell.append(swatch(spans, cause), ` ${cause}`); return cell; };
  const sums = summedCauses(led).map(({ cause, lasts }) => [spoken(lasts), share(lasts, end - begin), named(cause)]);
  made.append(scrolled(rows(["time", "share", "cause"], sums), "Time by causes"));
  const shown = led.slice(-MOST_LISTED), digit = digits(shown.map(span => span.begin));
  const to = span => { const one = element("button", `#${span.packet}`); one.type = "button"; one.addEventListener("click", () => pick(span.packet)); return one; };
  const list = shown.map(span => [exact(span.begin, digit), spoken(span.end - span.begin), named(span.cause), span.place, span.packet ? to(span) : ""]);
  const details = element("details"), told = led.length > shown.length ? `the last ${shown.length} of ${led.length} spans` : `${led.length} spans`;
  details.append(element("summary", `Step by step: ${told}`), scrolled(rows(["time", "took", "cause", "place", "packet"], list), "Spans in order of time"));
  made.append(details);
  return made;
}
