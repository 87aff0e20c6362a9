"use strict";
// The search field: places whose words hold everything that was typed, the shortest first.
(function () {
  const field = document.getElementById("search"), list = document.getElementById("found");
  const up = document.body.dataset.up;
  field.addEventListener("input", function () {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = !words.length ? [] : PLACES.filter(([text]) => words.every((word) => text.toLowerCase().includes(word)));
    found.sort((a, b) => a[0].length - b[0].length);
    list.replaceChildren(...found.slice(0, 40).map(function ([text, place]) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = up + place;
      link.textContent = text;
      item.append(link);
      return item;
    }));
    list.hidden = !words.length;
    if (words.length && !found.length) list.textContent = "nothing is called so";
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== field) { field.focus(); event.preventDefault(); }
    if (event.key === "Escape") { field.value = ""; list.hidden = true; }
    if (event.key === "Enter" && document.activeElement === field && list.querySelector("a")) list.querySelector("a").click();
  });
  list.addEventListener("click", () => { list.hidden = true; });
})();
