"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const heat = get("heat"), answer = get("answer"), words = get("words"), reasons = get("why").children;
  const rows = [...heat.tBodies[0].rows];
  const targets = [...heat.tHead.querySelectorAll("th.t")].map((head) => head.dataset.n);
  const libraries = new Map([...document.querySelectorAll("#libraries tbody")].map((body) => [body.dataset.a, body]));
  const grid = rows.map((row) => [...row.querySelectorAll("button")]);
  const marks = [...document.querySelectorAll("input[name=grade]")];
  const why = [...reasons].map((reason) => reason.children[1].textContent);
  let known = null;
  let open = null, place = null;

  // one stop for the tab key, then arrows
  const hold = (button) => {
    if (place) place.tabIndex = -1;
    place = button;
    if (place) place.tabIndex = 0;
  };
  grid.forEach((row) => row.forEach((button) => { button.tabIndex = -1; }));
  hold(grid[0] && grid[0][0]);

  const shut = () => {
    if (open) open.setAttribute("aria-expanded", "false");
    open = null;
    answer.hidden = true;
  };
  const show = (button) => {
    if (open === button) return shut();
    shut();
    open = button;
    button.setAttribute("aria-expanded", "true");
    const row = button.closest("tr"), [name, target, verdict] = answer.querySelectorAll("strong, b");
    const head = row.cells[0];
    name.textContent = head.title || head.firstChild.textContent;
    target.textContent = targets[button.parentNode.cellIndex - 2];
    verdict.textContent = button.childNodes[0].textContent + " " + button.childNodes[1].textContent;
    verdict.className = button.className;
    const [, reason, driver] = answer.querySelectorAll("p");
    const own = button.dataset.r && reasons[button.dataset.r - 1].children[1].cloneNode(true);
    reason.replaceChildren(...(own ? [button.dataset.r + ". ", own] : ["It holds machine code for this GPU."]));
    driver.textContent = button.dataset.d ? "The target names no driver: " + button.dataset.d + " or newer is assumed." : "";
    answer.hidden = false;
  };

  heat.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) { hold(button); show(button); }
  });
  heat.addEventListener("keydown", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const seen = grid.filter((_, index) => !rows[index].hidden);
    const y = seen.findIndex((row) => row.includes(button)), x = seen[y].indexOf(button);
    const step = { ArrowUp: [y - 1, x], ArrowDown: [y + 1, x], ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1],
      Home: [y, 0], End: [y, seen[y].length - 1] }[event.key];
    const next = step && seen[step[0]] && seen[step[0]][step[1]];
    if (!next) return;
    event.preventDefault();
    hold(next);
    next.focus();
    if (open) show(next);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || answer.hidden) return;
    const last = open;
    shut();
    if (last) last.focus();
  });
  get("close").addEventListener("click", () => {
    const last = open;
    shut();
    if (last) last.focus();
  });

  const text = (row, index) => {
    const own = libraries.get(row.dataset.a), cells = new Set(grid[index].map((button) => button.dataset.r));
    const notes = [...row.querySelectorAll("sup.note")].map((note) => note.textContent);
    const texts = [...cells, ...notes].map((reason) => (reason ? why[reason - 1] : ""));
    return [row.cells[0].title, row.cells[0].textContent, own ? own.textContent : "", ...texts].join("\n").toLowerCase();
  };
  const filter = () => {
    const own = words.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const grades = new Set(marks.filter((mark) => mark.checked).map((mark) => mark.value));
    if (own.length && !known) known = rows.map(text);
    const all = grades.size === marks.length;
    let count = 0;
    rows.forEach((row, index) => {
      const is = (all || grid[index].some((button) => grades.has(button.className))) && own.every((word) => known[index].includes(word));
      row.hidden = !is;
      const library = libraries.get(row.dataset.a);
      if (library) library.hidden = !is;
      if (is) count += 1;
    });
    get("count").textContent = count === rows.length ? "" : count + " of " + rows.length + " rows";
    get("none").hidden = count > 0;
    if (open && open.closest("tr").hidden) shut();
    const first = grid.find((_, index) => !rows[index].hidden);
    if (first && place && place.closest("tr").hidden) hold(first[0]);
  };
  words.addEventListener("input", filter);
  marks.forEach((mark) => mark.addEventListener("change", filter));
  get("filter").addEventListener("submit", (event) => event.preventDefault());
  get("filter").hidden = false;
  if (words.value || marks.some((mark) => !mark.checked)) filter();
})();
