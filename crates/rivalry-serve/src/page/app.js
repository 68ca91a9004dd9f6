"use strict";
// The page: searches, lists and reasons, all from the API of the same server. Text from the server becomes text nodes, never markup.

const $ = (id) => document.getElementById(id);
const PAGE = 20;
const state = { mode: "user", user: null, picked: [], shown: 0, models: [], selected: null, list: null };

/** "1,500 users", "1 user". */
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** An element with attributes and children; strings become text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "click") element.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Asks the server; an error becomes an exception with its message and help. */
async function ask(path, body) {
  const headers = { Accept: "application/json" };
  const key = sessionStorage.getItem("rivalry-key");
  if (key) headers["X-API-Key"] = key;
  const options = { headers };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server can't be reached.");
  }
  const answer = await response.json();
  if (response.ok) return answer;
  if (response.status === 401) $("login").hidden = false;
  throw new Error(`${answer.error.message}\n${answer.error.help}`);
}

function say(text, error = false) {
  $("status").textContent = text;
  $("status").classList.toggle("error", error);
}

/** Runs an action, and shows what goes wrong. */
async function attempt(action) {
  try {
    say("");
    await action();
  } catch (error) {
    say(error.message, true);
  }
}

const model = () => $("model").value;
const withModel = (path, parameters = {}) =>
  `${path}?${new URLSearchParams({ ...parameters, ...(model() ? { model: model() } : {}) })}`;
const title = (item) => item.title || item.item;
const number = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(4));

/** A link of an item that opens elsewhere, or nothing. */
function link(item) {
  return item.url ? make("a", { href: item.url, target: "_blank", rel: "noopener noreferrer" }, "open") : null;
}

/** An item of a list: a button that explains it, and what is known of it. */
function row(item, rank, largest, action) {
  const picture = item.image ? make("img", { src: item.image, alt: "", loading: "lazy", referrerpolicy: "no-referrer" }) : null;
  const button = make("button",
    { type: "button", class: picture ? "item picture" : "item", "data-item": item.item, "aria-pressed": "false", click: () => action(item) },
    make("span", { class: "rank" }, String(rank)), picture,
    make("span", { class: "name" }, title(item)), make("span", { class: "score" }, number(item.score)));
  const track = make("div", { class: "track", "aria-hidden": "true" });
  const width = largest > 0 ? Math.min(100, (100 * Math.abs(item.score)) / largest) : 0;
  const bar = make("i", { class: item.score < 0 ? "against" : null });
  bar.style.width = `${width}%`;
  track.append(bar);
  const id = item.title ? make("span", {}, item.item) : null;
  return make("li", {}, button, make("div", { class: "beneath meta" }, track, id, make("span", {}, counted(item.popularity, "interaction")), link(item)));
}

function fill(list, items, start, action) {
  const largest = Math.max(...items.map((item) => Math.abs(item.score)), 0);
  items.forEach((item, place) => list.append(row(item, start + place + 1, largest, action)));
}

async function showModels() {
  const { models, feedback } = await ask("api/models");
  const chosen = model();
  state.models = models;
  const names = models.map((entry) => make("option", { value: entry.name }, entry.name));
  if (models.some((entry) => entry.share > 0)) names.unshift(make("option", { value: "" }, "by A/B test"));
  $("model").replaceChildren(...names);
  if ([...$("model").options].some((option) => option.value === chosen)) $("model").value = chosen;
  about(feedback);
}

function about(feedback) {
  const entry = state.models.find((candidate) => candidate.name === model()) || state.models[0];
  const parts = [entry.kind, entry.loss, counted(entry.users, "user"), counted(entry.items, "item"), entry.checksum,
    entry.search.kind === "exact" ? "exact search" : `${entry.search.kind}, recall@20 ${number(entry.search.recall_at_20)}`,
    feedback ? "stores feedback" : null, entry.error ? "a new model was refused: see /api/models" : null];
  $("about").textContent = parts.filter(Boolean).join(" · ");
}

/** The list of the chosen user or history, from the beginning or the next part of it. */
async function showList(more = false) {
  const offset = more ? state.shown : 0;
  if (!more) {
    $("list").replaceChildren();
    clearWhy();
  }
  let answer;
  if (state.mode === "user") {
    if (state.user === null) return;
    answer = await ask(withModel(`api/recommend/${encodeURIComponent(state.user)}`, { n: PAGE, offset }));
  } else {
    const body = { items: state.picked.map((item) => item.item), n: PAGE, offset };
    if (model()) body.model = model();
    answer = (await ask("api/recommend", body)).lists[0];
  }
  state.list = answer;
  $("list-title").textContent = state.mode === "user" ? `Recommendations for ${state.user}` : "Recommendations for this history";
  const source = { model: "by the model", "fold-in": "by the model, from the history (fold-in)", popularity: "by popularity" }[answer.source];
  $("list-note").textContent = [source, answer.arm ? `arm ${answer.arm}` : null, answer.note].filter(Boolean).join(" · ");
  fill($("list"), answer.items, offset, explain);
  state.shown = offset + answer.items.length;
  $("more").hidden = answer.items.length < PAGE;
}

async function showHistory() {
  $("history").hidden = true;
  if (state.mode !== "user" || state.user === null) return;
  let known;
  try {
    known = await ask(withModel(`api/users/${encodeURIComponent(state.user)}`, { n: 200 }));
  } catch {
    return; // A user that the model doesn't know has no history to show.
  }
  for (const [id, items, name] of [["history", known.train, "training items"], ["held-out", known.held_out, "validation and test items"]]) {
    $(`${id}-title`).textContent = `${items.length} ${name}`;
    $(`${id}-items`).replaceChildren();
    fill($(`${id}-items`), items, 0, showNeighbours);
    $(id).hidden = items.length === 0;
  }
  $("history").hidden = false;
}

function clearWhy() {
  state.selected = null;
  $("why-title").textContent = "Why";
  $("why-body").replaceChildren(make("p", { class: "quiet" }, "Choose an item to see which items of the history speak for it, which items it competes with, and its neighbours."));
}

function press(item) {
  document.querySelectorAll(".item[aria-pressed=true]").forEach((button) => button.setAttribute("aria-pressed", "false"));
  document.querySelectorAll(".item").forEach((button) => {
    if (button.dataset.item === item) button.setAttribute("aria-pressed", "true");
  });
}

function table(caption, header, rows) {
  return [make("h3", {}, caption), make("table", {},
    make("thead", {}, make("tr", {}, ...header.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))))))];
}

const itemLink = (item) => make("button", { type: "button", class: "link", click: () => showNeighbours(item) }, title(item));
const optional = (value) => (value === undefined || value === null ? "–" : number(value));

/** Why an item is recommended. */
function explain(item) {
  return attempt(async () => {
    press(item.item);
    const body = { item: item.item, n: 8 };
    if (state.mode === "user") body.user = state.user;
    else body.items = state.picked.map((picked) => picked.item);
    if (model()) body.model = model();
    if (state.list && state.list.source === "popularity") return showNeighbours(item);
    const why = await ask("api/explain", body);
    const parts = [];
    parts.push(...table("History items that support it", ["item", "contribution"],
      why.because.map((part) => [itemLink(part), number(part.score)])));
    parts.push(make("p", { class: "meta" }, `score ${number(why.item.score)}. The contributions explain ${number(why.fold_in_score)}, the score of a new user with this history.`));
    parts.push(...table("Hardest rivals", ["item", "score", "similarity"],
      why.hardest.map((rival) => [itemLink(rival), number(rival.score), optional(rival.similarity)])));
    if (why.similar) {
      parts.push(...table("Most similar rivals", ["item", "score", "similarity"],
        why.similar.map((rival) => [itemLink(rival), number(rival.score), optional(rival.similarity)])));
    }
    if (why.slate) parts.push(...slate(why.slate));
    showWhy(`Why ${title(item)}`, item, parts);
  });
}

/** The pair as the loss sees it. */
function slate(found) {
  const facts = [["temperature of this pair", number(found.temperature)], ["base temperature", number(found.base_temperature)], ["competition", number(found.competition)]];
  return [make("h3", {}, `As ${found.loss} sees the pair`),
    make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    ...table("Hardest of the sampled negatives", ["item", "score", "similarity", "κ", "gradient"],
      found.negatives.map((negative) => [itemLink(negative), number(negative.score), number(negative.similarity), number(negative.kappa), `${(100 * negative.share).toFixed(1)} %`]))];
}

/** The neighbours of an item. */
function showNeighbours(item) {
  return attempt(async () => {
    press(item.item);
    const found = await ask(withModel(`api/items/${encodeURIComponent(item.item)}/similar`, { n: 15 }));
    showWhy(`Neighbours of ${title(found.item)}`, found.item,
      table("Most similar items", ["item", "similarity", "interactions"],
        found.similar.map((other) => [itemLink(other), number(other.score), String(other.popularity)])));
  });
}

function showWhy(heading, item, parts) {
  state.selected = item.item;
  $("why-title").textContent = heading;
  const pick = make("button", { type: "button", click: () => pickItem(item) }, "Add to a history");
  const neighbours = make("button", { type: "button", click: () => showNeighbours(item) }, "Neighbours");
  const facts = make("p", { class: "meta" }, [item.item, item.popularity === undefined ? null : counted(item.popularity, "interaction")].filter(Boolean).join(" · "), " ");
  const open = link(item);
  if (open) facts.append(open);
  $("why-body").replaceChildren(facts, make("p", {}, neighbours, " ", pick), ...parts);
  if (window.matchMedia("(max-width: 1000px)").matches) $("why-title").focus();
}

function setMode(mode) {
  state.mode = mode;
  document.querySelector(`input[name=mode][value=${mode}]`).checked = true;
  $("query-label").textContent = mode === "user" ? "User id" : "Item id or title";
  $("query").value = "";
  hideFound();
  $("picked").hidden = mode === "user";
  $("history").hidden = mode !== "user" || state.user === null;
  $("list").replaceChildren();
  $("more").hidden = true;
  $("list-title").textContent = "Recommendations";
  $("list-note").textContent = "";
  clearWhy();
}

function pickUser(user) {
  state.user = user;
  $("query").value = user;
  location.hash = `user=${encodeURIComponent(user)}`;
  return attempt(() => Promise.all([showList(), showHistory()]));
}

function pickItem(item) {
  if (state.mode !== "items") setMode("items");
  if (!state.picked.some((picked) => picked.item === item.item)) state.picked.push(item);
  $("query").value = "";
  return showPicked();
}

function showPicked() {
  $("picked").hidden = false;
  $("picked-items").replaceChildren(...state.picked.map((item) => make("li", {}, make("button", {
    type: "button", "aria-label": `Remove ${title(item)}`,
    click: () => {
      state.picked = state.picked.filter((picked) => picked !== item);
      showPicked();
    },
  }, `${title(item)} ×`))));
  return attempt(() => showList());
}

// The search field: a combobox with a list of what was found.
let searching = 0;
let active = -1;

function hideFound() {
  $("found").hidden = true;
  $("query").setAttribute("aria-expanded", "false");
  $("query").removeAttribute("aria-activedescendant");
  active = -1;
}

async function search() {
  const query = $("query").value;
  const number = ++searching;
  const found = await ask(withModel(state.mode === "user" ? "api/users" : "api/items", { q: query, n: 12 }));
  if (number !== searching) return; // A later search has been asked for.
  const choices = state.mode === "user"
    ? found.users.map((user) => [user, () => pickUser(user)])
    : found.items.map((item) => [item.title ? `${item.title} (${item.item})` : item.item, () => pickItem(item)]);
  const selected = $("found").children[active]?.textContent;
  $("found").replaceChildren(...choices.map(([text, choose], place) => {
    const option = make("li", { role: "option", id: `found-${place}`, "aria-selected": "false" }, text);
    option.addEventListener("mousedown", (event) => {
      event.preventDefault();
      hideFound();
      choose();
    });
    option.choose = choose;
    return option;
  }));
  $("found").hidden = choices.length === 0;
  $("query").setAttribute("aria-expanded", String(choices.length > 0));
  // What was selected before these results came in stays selected if it is among them.
  active = choices.findIndex(([text]) => text === selected);
  if (active >= 0) move(0);
  say(choices.length === 0 ? "Nothing found" : "");
}

function move(step) {
  const options = [...$("found").children];
  if ($("found").hidden || options.length === 0) return;
  active = (active + step + options.length) % options.length;
  options.forEach((option, place) => option.setAttribute("aria-selected", String(place === active)));
  options[active].scrollIntoView({ block: "nearest" });
  $("query").setAttribute("aria-activedescendant", options[active].id);
}

$("query").addEventListener("input", () => attempt(search));
$("query").addEventListener("focus", () => attempt(search));
$("query").addEventListener("blur", hideFound);
$("query").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape") {
    hideFound();
  } else if (event.key === "Enter") {
    event.preventDefault();
    const option = $("found").children[active];
    const text = $("query").value;
    searching++;
    hideFound();
    if (option) option.choose();
    else if (state.mode === "user" && text !== "") pickUser(text);
  }
});
document.querySelectorAll("input[name=mode]").forEach((radio) => radio.addEventListener("change", () => {
  setMode(radio.value);
  attempt(() => Promise.all([radio.value === "items" ? showPicked() : showList(), showHistory()]));
}));
$("clear").addEventListener("click", () => {
  state.picked = [];
  showPicked();
});
$("more").addEventListener("click", () => attempt(() => showList(true)));
$("model").addEventListener("change", () => attempt(async () => {
  await showModels();
  await Promise.all([showList(), showHistory()]);
}));
$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("rivalry-key", $("key").value);
  $("login").hidden = true;
  start();
});

function start() {
  return attempt(async () => {
    await showModels();
    const asked = new URLSearchParams(location.hash.slice(1)).get("user");
    const { users } = await ask(withModel("api/users", { n: 1 }));
    await pickUser(asked ?? users[0]);
  });
}
start();
