// Returns the defects of the open page: faint text, text that is cut off, and parts wider than the window.
() => {
  const parsed = text => {
    const numbers = (text.match(/[\d.]+(?:e-?\d+)?%?/g) || []).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    const [r, g, b, a = 1] = numbers;
    return numbers.length < 3 ? null : { rgb: [r, g, b].map(v => v * scale), a };
  };
  const over = (top, below) => top.rgb.map((v, i) => v * top.a + below[i] * (1 - top.a));
  const luminance = rgb => {
    const [r, g, b] = rgb.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ancestors = element => element ? [element, ...ancestors(element.parentElement)] : [];
  const backdrop = element => ancestors(element).reverse().reduce((below, one) => {
    const paint = parsed(getComputedStyle(one).backgroundColor);
    return paint ? over(paint, below) : below;
  }, [255, 255, 255]);
  const contrast = element => {
    const style = getComputedStyle(element);
    const ink = parsed(element instanceof SVGElement ? style.fill : style.color);
    if (!ink) return 0;
    ink.a *= ancestors(element).reduce((all, one) => all * Number(getComputedStyle(one).opacity), 1);
    const below = backdrop(element);
    const [low, high] = [luminance(over(ink, below)), luminance(below)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  document.querySelectorAll("details").forEach(one => { one.open = true; });
  const found = { texts: 0, faint: [], wide: [], cut: [] };
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    found.wide = [...document.body.querySelectorAll("*")]
      .filter(one => one.getBoundingClientRect().right > width + 1)
      .map(one => `${one.tagName} ${one.id || one.className}`).slice(0, 5)
      .concat(`page of ${document.documentElement.scrollWidth} px in ${width} px`);
  // Text is cut off if it is wider than its element, and no ancestor scrolls.
  const scrolls = element => ancestors(element).some(one => ["auto", "scroll"].includes(getComputedStyle(one).overflowX) && one !== document.documentElement);
  const isFree = element => ["absolute", "sticky"].includes(getComputedStyle(element).position) || getComputedStyle(element).display === "inline" || element instanceof SVGElement;
  for (const one of document.body.querySelectorAll("p, dt, dd, th, td, li, h1, h2, h3, summary, figcaption, span, small"))
    if (one.getClientRects().length && one.scrollWidth > one.clientWidth + 1 && !isFree(one) && !scrolls(one)) found.cut.push(`${one.tagName}: ${one.innerText.slice(0, 40)}`);
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const text = nodes.currentNode.data.trim(), element = nodes.currentNode.parentElement;
    if (!text || !element.getClientRects().length) continue;
    if (getComputedStyle(element).visibility === "hidden") continue;
    found.texts += 1;
    const ratio = contrast(element);
    if (ratio < 3) found.faint.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  }
  return found;
}
