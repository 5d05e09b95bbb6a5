// Pages are whole without this. With it they follow what happens: on an event the same page is
// fetched again, and the parts of it that are marked as live and have changed are replaced.
(() => {
  "use strict";
  const status = document.getElementById("live");
  const PAUSE = 400;
  let timer = null;
  let busy = false;
  let again = false;
  let stale = false;

  const say = (text, state) => {
    if (status && status.textContent !== text) {
      status.textContent = text;
      status.className = state;
    }
  };

  const ago = (from) => {
    const gone = (Date.now() - from) / 1000;
    if (gone < 45) return "just now";
    if (gone < 5400) return `${Math.round(gone / 60)} min ago`;
    if (gone < 129600) return `${Math.round(gone / 3600)} h ago`;
    if (gone < 1209600) return `${Math.round(gone / 86400)} days ago`;
    return null;
  };

  // The server writes times in UTC; here they are the reader's.
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const two = (number) => String(number).padStart(2, "0");
  const clock = (at) => `${two(at.getHours())}:${two(at.getMinutes())}`;
  const day = (at) => `${at.getDate()} ${MONTHS[at.getMonth()]}`;
  const times = () => {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const at = new Date(time.dateTime);
      const past = at <= Date.now();
      if (past) time.textContent = ago(at.getTime()) || at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
      time.title = at.toLocaleString();
    }
    for (const time of document.querySelectorAll("time:not([data-ago], [data-local])")) {
      const at = new Date(time.dateTime);
      if ("exact" in time.dataset) time.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(at)}:${two(at.getSeconds())}`;
      else if (/^\d\d:\d\d:\d\d$/.test(time.textContent)) time.textContent = `${clock(at)}:${two(at.getSeconds())}`;
      else continue;
      time.title = at.toLocaleString();
      time.dataset.local = "";
    }
    for (const label of document.querySelectorAll(".axis text[data-time]:not([data-local])")) {
      const at = new Date(label.dataset.time);
      label.textContent = /^\d\d:\d\d/.test(label.textContent) ? clock(at) : `${day(at)} ${clock(at)}`;
      label.dataset.local = "";
    }
    // Days begin at the reader's midnight.
    for (const list of document.querySelectorAll(".tale, .timeline")) {
      if (!list.querySelector(":scope > .day")) continue;
      for (const old of list.querySelectorAll(":scope > .day")) old.remove();
      let last = "";
      for (const row of [...list.children]) {
        const time = row.querySelector("time");
        const today = time ? day(new Date(time.dateTime)) : last;
        if (today !== last) list.insertBefore(Object.assign(document.createElement("li"), { className: "day", textContent: today }), row);
        last = today;
      }
    }
    for (const note of document.querySelectorAll("[data-utc]")) note.hidden = true;
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
    for (const button of document.querySelectorAll("[data-png]")) button.hidden = false;
  };

  // What somebody has opened, scrolled or gone to stays so.
  const replace = (old, fresh) => {
    const open = [...old.querySelectorAll("details")].map((one) => one.open);
    const scrolled = [...old.querySelectorAll(".scroll, pre")].map((one) => [
      one.scrollLeft,
      one.scrollTop,
      one.scrollTop + one.clientHeight >= one.scrollHeight - 4,
    ]);
    const focused = document.activeElement;
    const links = [...old.querySelectorAll("a, [tabindex], input, textarea, button, summary")];
    const at = links.indexOf(focused);
    const href = focused && focused.getAttribute && focused.getAttribute("href");
    old.replaceWith(fresh);
    [...fresh.querySelectorAll("details")].forEach((one, n) => { one.open = open[n] || one.open; });
    [...fresh.querySelectorAll(".scroll, pre")].forEach((one, n) => {
      if (!scrolled[n]) return;
      one.scrollLeft = scrolled[n][0];
      one.scrollTop = one.matches(".log") && scrolled[n][2] ? one.scrollHeight : scrolled[n][1];
    });
    if (at >= 0) {
      const now = [...fresh.querySelectorAll("a, [tabindex], input, textarea, button, summary")];
      const same = now.find((one) => href && one.getAttribute("href") === href) || now[at];
      if (same) same.focus({ preventScroll: true });
    }
  };

  // What was refused is shown only once, so it counts as typed.
  const typing = (part) => [...part.querySelectorAll("textarea, input:not([type=hidden])")].some(
    (field) => field === document.activeElement || field.value !== field.defaultValue || "unsent" in field.dataset,
  );

  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = document.getElementById("main");
      const known = [...main.querySelectorAll("[data-live]")].map((one) => one.id).join();
      const found = [...page.querySelectorAll("#main [data-live]")];
      if (found.map((one) => one.id).join() !== known) {
        // A part came or went: the whole page is another one.
        if (!typing(main)) replace(main, document.importNode(page.getElementById("main"), true));
      } else {
        for (const fresh of found) {
          const old = document.getElementById(fresh.id);
          if (old && old.innerHTML !== fresh.innerHTML && !typing(old)) replace(old, document.importNode(fresh, true));
        }
      }
      document.documentElement.dataset.refreshed = String(Number(document.documentElement.dataset.refreshed || 0) + 1);
      times();
      views();
    } catch {
      say("Not reachable; trying again", "off");
    }
    busy = false;
    if (again) { again = false; soon(); }
  };

  const soon = () => {
    if (document.hidden) { stale = true; return; }
    if (timer === null) timer = setTimeout(() => { timer = null; refresh(); }, PAUSE);
  };

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && stale) { stale = false; soon(); }
  });

  const listen = () => {
    const events = new EventSource("/events");
    let lost = false;
    events.addEventListener("open", () => {
      say("Live", "on");
      if (lost) soon();
      lost = false;
    });
    events.addEventListener("error", () => {
      lost = true;
      say("Not live; trying again", "off");
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
    });
    for (const kind of ["session", "package", "reasoning", "event", "receipt", "run", "journal", "error_pattern", "strategy", "note", "operation"]) {
      events.addEventListener(kind, soon);
    }
    addEventListener("pagehide", () => events.close());
  };

  for (const log of document.querySelectorAll("pre.log")) log.scrollTop = log.scrollHeight;
  for (const wide of document.querySelectorAll(".lanes .scroll, .scroll.latest")) wide.scrollLeft = wide.scrollWidth;
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // A dialog of its own kind; the same one each time it is opened.
  const dialog = (kind, label) => {
    let found = document.querySelector(`dialog.${kind}`);
    if (!found) {
      found = element("dialog", { className: kind });
      found.setAttribute("aria-label", label);
      found.addEventListener("click", (event) => { if (event.target === found) found.close(); });
      document.body.append(found);
    }
    return found;
  };
  const closing = (of) => element("button", { type: "button", className: "plain", textContent: "Close", onclick: () => of.close() });

  // A step of a run as a drawer over the page that leads to it.
  const drawer = async (href) => {
    const answer = await fetch(href, { headers: { accept: "text/html" } });
    if (!answer.ok) { location.href = href; return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const main = document.importNode(page.getElementById("main"), true);
    const box = dialog("drawer", "Details");
    for (const one of [main, ...main.querySelectorAll("[id]")]) one.id = `drawer-${one.id}`;
    for (const one of main.querySelectorAll("[data-live]")) one.removeAttribute("data-live");
    for (const one of main.querySelectorAll("[aria-labelledby]")) one.setAttribute("aria-labelledby", `drawer-${one.getAttribute("aria-labelledby")}`);
    for (const one of main.querySelectorAll("label[for]")) one.htmlFor = `drawer-${one.htmlFor}`;
    for (const one of main.querySelectorAll(".above")) one.remove();
    const body = element("div", { className: "drawer-body" }, ...main.childNodes);
    const whole = element("a", { href, textContent: "Open as a page" });
    box.replaceChildren(element("p", { className: "drawer-head" }, whole, closing(box)), body);
    if (!box.open) box.showModal();
    box.scrollTop = 0;
    times();
  };

  // A picture that the server draws, as pixels: twice as many as it has units.
  const png = async (button) => {
    const theme = document.documentElement.dataset.theme;
    const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    const address = new URL(button.dataset.png, location.href);
    address.searchParams.set("theme", dark ? "dark" : "light");
    const picture = new Image();
    picture.src = address.href;
    await picture.decode();
    const canvas = element("canvas", { width: picture.naturalWidth * 2, height: picture.naturalHeight * 2 });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      const link = element("a", { href: URL.createObjectURL(blob), download: button.dataset.name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 5000);
    });
  };

  document.addEventListener("click", (event) => {
    const target = event.target.closest ? event.target : null;
    const draws = target && target.closest("[data-png]");
    if (draws) { png(draws).catch(() => { draws.textContent = "Not possible here"; }); return; }
    const copy = target && target.closest("[data-copy]");
    if (copy) {
      navigator.clipboard.writeText(location.origin + copy.dataset.copy).then(() => {
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = "Copy link"; }, 1500);
      });
      return;
    }
    const link = target && target.closest("a[data-drawer], dialog.drawer nav.pages a");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    drawer(link.getAttribute("href")).catch(() => { location.href = link.getAttribute("href"); });
  });

  // Everything by name: pages at once, records as the search finds them.
  let asked = 0;
  const palette = () => {
    const box = dialog("palette", "Go to");
    const field = element("input", { type: "search", placeholder: "Go to, or search everything" });
    field.setAttribute("aria-label", "Go to, or search everything");
    const list = element("ul", { className: "list" });
    list.setAttribute("aria-live", "polite");
    const pages = [...document.querySelectorAll(".top nav a, .tabs a, footer nav a")].map((one) => [one.textContent.trim(), one.href, "page"]);
    pages.push(...kept().map((view) => [view.name, view.href, "kept view"]));
    const nothing = () => element("li", { className: "muted", textContent: "Nothing found." });
    const show = (entries, isAll) => list.replaceChildren(...(entries.length || !isAll ? [] : [nothing()]), ...entries.slice(0, 12).map(([name, href, kind]) =>
      element("li", {}, element("a", { href, textContent: name }), element("span", { className: "muted", textContent: ` ${kind}` }))));
    const find = async () => {
      const words = field.value.trim();
      const mine = ++asked;
      const named = pages.filter(([name]) => name.toLowerCase().includes(words.toLowerCase()));
      show(named, words.length === 1);
      if (words.length < 2) return;
      const answer = await fetch(`/search?q=${encodeURIComponent(words)}`);
      if (!answer.ok || mine !== asked) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = [...page.querySelectorAll("#main section a[href^='/']")].map((one) => [one.textContent.trim(), one.getAttribute("href"), "found"]);
      show([...named, ...found], true);
    };
    field.addEventListener("input", find);
    box.addEventListener("keydown", (event) => {
      const links = [...list.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      // A search field would only be emptied.
      if (event.key === "Escape") box.close();
      if (event.key === "Enter" && document.activeElement === field && links[0]) { event.preventDefault(); links[0].click(); }
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const next = links[at + (event.key === "ArrowDown" ? 1 : -1)] || (event.key === "ArrowUp" ? field : links[0]);
        if (next) next.focus();
      }
    });
    box.replaceChildren(field, list);
    show(pages);
    if (!box.open) box.showModal();
    field.focus();
  };

  const KEYS = [["/", "search"], ["⌘K or Ctrl K", "go to anything by name"], ["j, k", "next and previous row"], ["Enter", "open it"], ["c", "copy the link of this page"], ["Esc", "close a drawer"], ["?", "these keys"]];
  const help = () => {
    const box = dialog("help", "Keys");
    const rows = KEYS.map(([key, what]) => element("div", {}, element("dt", {}, element("kbd", { textContent: key })), element("dd", { textContent: what })));
    box.replaceChildren(element("h2", { textContent: "Keys" }), element("dl", { className: "facts" }, ...rows), closing(box));
    if (!box.open) box.showModal();
  };

  // j and k go through what can be opened, one per row.
  const step = (by) => {
    const scope = document.querySelector("dialog[open]") || document.getElementById("main");
    const rows = [...scope.querySelectorAll(".rows tbody tr, .list > li, .timeline > li, .grid tbody tr")];
    const links = rows.map((row) => row.querySelector("a")).filter((link) => link && link.offsetParent !== null);
    if (!links.length) return;
    const row = document.activeElement.closest && document.activeElement.closest("tr, li");
    const at = links.findIndex((link) => link === document.activeElement || (row && row.contains(link)));
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };

  addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      palette();
      return;
    }
    const field = event.target.closest && event.target.closest("input, textarea, select");
    if (field || event.ctrlKey || event.metaKey || event.altKey) return;
    const inside = document.querySelector("dialog[open]");
    if (event.key === "/" && !inside) { event.preventDefault(); document.querySelector(".search input").focus(); }
    if (event.key === "?" && !inside) help();
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    if (event.key === "c" && navigator.clipboard) navigator.clipboard.writeText(location.href).then(() => say("Link copied", "on"));
  });
  // Views that somebody keeps, in this browser only: addresses with filters and an order.
  const VIEWS = "handover-views";
  const local = (view) => view && typeof view.name === "string" && typeof view.href === "string" && /^\/(?![\/\\])/.test(view.href);
  const kept = () => { try { return [JSON.parse(localStorage.getItem(VIEWS))].flat().filter(local); } catch { return []; } };
  const keep = (views) => { try { localStorage.setItem(VIEWS, JSON.stringify(views.slice(0, 30))); } catch { /* full, or forbidden */ } };
  const views = () => {
    const box = document.querySelector("[data-views]");
    if (!box) return;
    const here = location.pathname + location.search;
    const own = kept();
    const forget = (href) => { keep(own.filter((view) => view.href !== href)); views(); };
    const entry = (view) => element("span", { className: "view" },
      element("a", { href: view.href, textContent: view.name }),
      Object.assign(element("button", { type: "button", className: "plain", textContent: "✕", onclick: () => forget(view.href) }), { ariaLabel: `Forget ${view.name}` }));
    const words = [...new URLSearchParams(location.search)].filter(([key, value]) => value && key !== "done" && key !== "from").map(([key, value]) => key === "sort" ? `by ${value.replace(/^-/, "")}` : value);
    const save = element("button", { type: "button", className: "plain", textContent: "Keep this view", onclick: () => {
      keep([...own, { name: `${document.querySelector("h1").textContent.trim()}: ${words.join(", ")}`, href: here }]);
      views();
    } });
    const offers = words.length && !own.some((view) => view.href === here);
    box.replaceChildren(...own.map(entry), ...(offers ? [save] : []));
    box.hidden = !box.childNodes.length;
  };
  views();

  // What a form did is shown once.
  if (new URLSearchParams(location.search).has("done")) {
    const plain = new URL(location.href);
    plain.searchParams.delete("done");
    history.replaceState(null, "", plain);
  }
  // Looking at a mark of a picture shows where its lines come from and lead to.
  const near = (event) => {
    const picture = event.target.closest && event.target.closest(".picture");
    if (!picture) return;
    const mark = event.type === "mouseout" || event.type === "focusout" ? null : event.target.closest("[data-at]");
    const at = mark && mark.dataset.at;
    picture.classList.toggle("looking", at !== null);
    for (const way of picture.querySelectorAll(".ways path")) {
      way.classList.toggle("near", at !== null && (way.dataset.from === at || way.dataset.to === at));
    }
  };
  for (const kind of ["mouseover", "mouseout", "focusin", "focusout"]) document.addEventListener(kind, near);
  times();
  setInterval(times, 30000);
  // What is at work takes longer without saying so.
  setInterval(() => { if (document.querySelector("[data-grows]")) soon(); }, 10000);
  listen();
})();
