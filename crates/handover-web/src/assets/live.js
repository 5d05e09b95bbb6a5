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

  const times = () => {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const text = ago(Date.parse(time.dateTime));
      if (text && Date.parse(time.dateTime) <= Date.now()) time.textContent = text;
    }
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
  const typing = (part) => [...part.querySelectorAll("textarea, input")].some(
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
    for (const kind of ["session", "package", "reasoning", "event", "receipt", "run", "journal", "error_pattern", "strategy"]) {
      events.addEventListener(kind, soon);
    }
    addEventListener("pagehide", () => events.close());
  };

  for (const log of document.querySelectorAll("pre.log")) log.scrollTop = log.scrollHeight;
  for (const wide of document.querySelectorAll(".lanes .scroll")) wide.scrollLeft = wide.scrollWidth;
  // "/" leads to the search, as in many places.
  addEventListener("keydown", (event) => {
    const field = event.target.closest && event.target.closest("input, textarea, select");
    if (event.key === "/" && !field && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      document.querySelector(".search input").focus();
    }
  });
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
  setInterval(times, 30000);
  listen();
})();
