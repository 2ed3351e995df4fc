// The base of the other scripts: following links without a reload, the title, the place for callbacks.
// Names arrive as text and stay text: nothing in these scripts builds HTML from strings.
(function () {
  "use strict";

  const scope = (window.throttlescope = {});

  function navigate(href, stay) {
    const url = new URL(href, window.location.origin);
    if (url.origin !== window.location.origin) {
      return;
    }
    go("pushState", url.pathname + url.search);
    if (!stay) {
      window.scrollTo(0, 0);
    }
  }

  // The way of the back button: the address changes, and dcc.Location reads it again.
  function go(how, path) {
    window.history[how](null, "", path);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }

  function plainClick(event) {
    return !(event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  }

  Object.assign(scope, { navigate: navigate, go: go, plainClick: plainClick });

  let titledPath = null;

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.throttlescope = {
    setTitle: function (pathname, search) {
      const query = new URLSearchParams(search || "");
      const page = document.querySelector('.shell-link[href="' + CSS.escape(pathname) + '"]');
      const name = query.get("subscription") || query.get("name") || (page && page.textContent);
      document.title = name ? name.slice(0, 80) + " - throttlescope" : "throttlescope";
      if (titledPath !== null && titledPath !== pathname) {
        // A reader of the screen starts at the new page, not at the link that was clicked.
        const place = document.getElementById("page");
        place && place.focus({ preventScroll: true });
      }
      titledPath = pathname;
      document.querySelectorAll(".shell-link").forEach((link) => {
        const here = link.getAttribute("href") === pathname;
        here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
      });
      return "shell-page";
    },
  };
})();
