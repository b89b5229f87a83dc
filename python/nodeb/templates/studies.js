// Filters the claims by study, by verdict or by words in them. Without this script, all claims are shown.
(() => {
  const form = document.querySelector("form.filter"), told = document.getElementById("shown");
  const claims = [...document.querySelectorAll("#claim-list > li")];
  const show = () => {
    const { study, verdict, words } = Object.fromEntries(new FormData(form));
    const wanted = words.toLowerCase().split(/\s+/);
    claims.forEach(one => {
      const text = one.textContent.toLowerCase();
      one.hidden = (study && one.dataset.study !== study) || (verdict && one.dataset.verdict !== verdict)
        || !wanted.every(word => text.includes(word));
    });
    const asked = [study, verdict, words.trim() && `"${words.trim()}"`].filter(Boolean).join(", ");
    const left = claims.filter(one => !one.hidden).length;
    told.textContent = asked ? `${left} of ${claims.length} claims: ${asked}.` : `${left} claims.`;
  };
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", event => event.preventDefault());
  show();
})();
