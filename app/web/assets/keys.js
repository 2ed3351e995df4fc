// Keys: `/` searches, `w` opens the worst subscription of the overview, `j` `k` and Enter walk through tables, `[` `]` shift the window, `t` changes the time zone, `?` helps.
(function () {
  "use strict";

  const SUBSCRIPTIONS = "/subscriptions";
  const { navigate } = window.throttlescope;

  const shown = (element) => element && element.getClientRects().length > 0;
  const click = (selector) => {
    const found = Array.from(document.querySelectorAll(selector)).find(shown);
    found && found.click();
  };

  function search() {
    const box = Array.from(document.querySelectorAll(".search-box input")).find(shown);
    if (box) {
      box.focus();
      box.select();
    } else {
      navigate(SUBSCRIPTIONS);
    }
  }

  // The grid that has the focus, or the first of the page: its next row.
  function stepInGrid(by) {
    const element =
      (document.activeElement && document.activeElement.closest(".ag-root-wrapper")) ||
      Array.from(document.querySelectorAll(".ag-root-wrapper")).find(shown);
    const holder = element && element.closest("[id]");
    const api = holder && window.dash_ag_grid.getApi(holder.id);
    if (!api || !api.getDisplayedRowCount()) {
      return false;
    }
    const cell = api.getFocusedCell();
    const row = cell ? Math.min(Math.max(cell.rowIndex + by, 0), api.getDisplayedRowCount() - 1) : 0;
    const column = cell ? cell.column : api.getAllDisplayedColumns()[0];
    api.ensureIndexVisible(row);
    api.setFocusedCell(row, column);
    return true;
  }

  // Tables that are no grids: the link of the next row.
  function stepInLinks(by) {
    const links = Array.from(document.querySelectorAll(".plain-table .row-link[href]")).filter(shown);
    if (links.length) {
      const at = links.indexOf(document.activeElement);
      links[at < 0 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)].focus();
    }
  }

  function step(by) {
    const inLinks = document.activeElement && document.activeElement.closest(".plain-table");
    if (inLinks || !stepInGrid(by)) {
      stepInLinks(by);
    }
  }

  const KEYS = {
    "/": search,
    j: () => step(1),
    k: () => step(-1),
    "[": () => click(".shift-earlier"),
    "]": () => click(".shift-later"),
    t: () => click("#zone-toggle"),
    w: () => click(".worst-link"),
    "?": () => window.throttlescope.help(),
  };

  window.throttlescope.help = function () {
    const dialog = document.getElementById("keys-help");
    dialog && (dialog.open ? dialog.close() : dialog.showModal());
  };

  document.addEventListener("click", function (event) {
    if (event.target.closest && event.target.closest("#keys-open, #keys-close")) {
      window.throttlescope.help();
    }
  });

  document.addEventListener("keydown", function (event) {
    const typing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable=true], .cm-editor");
    if (typing) {
      leaveSearch(event, typing);
    } else if (KEYS[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });

  function leaveSearch(event, box) {
    const isSearch = box.closest(".search-box");
    if (event.key === "Escape") {
      box.blur();
    } else if (event.key === "ArrowDown" && isSearch) {
      event.preventDefault();
      stepInGrid(1);
    }
  }
})();
