// A request that fails, or takes long, is said: a page never waits for ever. What is only seen on a page that was left is given up.
(function () {
  "use strict";

  const SLOW_MS = 5000;
  const LONGEST_MS = 60000;
  const CALLBACKS = "_dash-update-component";
  // What the server works on for seconds, and stops when no client waits for it any more.
  const LONG = ["subscription-advice-facts.", "subscription-now.", "promql-content.", "alerts-content."];
  // As the server says that nothing changes: what was waiting goes on with what is there.
  const NOTHING_NEW = () => new Response(null, { status: 204 });
  const send = window.fetch.bind(window);
  const running = new Set();

  const notice = () => document.getElementById("notice");

  function say(text, actions) {
    const place = notice();
    if (!place) {
      return;
    }
    place.replaceChildren(document.createTextNode(text + " "));
    actions.forEach(([label, act]) => {
      const button = document.createElement("button");
      button.textContent = label;
      button.className = "notice-button";
      button.addEventListener("click", act);
      place.append(button);
    });
    place.hidden = false;
  }

  function clear() {
    const place = notice();
    if (place && !running.size) {
      place.hidden = true;
      place.replaceChildren();
    }
  }

  // What to say is written by the server, in the language of the page.
  const words = (name) => (notice() ? notice().dataset[name] : "");
  const retry = () => [words("retry"), () => window.location.reload()];
  const dismiss = () => [words("dismiss"), () => (notice().hidden = true)];

  function cancelAll() {
    running.forEach((request) => request.abort("cancelled"));
  }
  window.throttlescope.cancelAll = cancelAll;

  // Before the other page is built: these listeners are the first.
  let path = window.location.pathname;
  ["popstate", "_dashprivate_pushstate"].forEach((name) =>
    window.addEventListener(name, function () {
      if (window.location.pathname !== path) {
        path = window.location.pathname;
        running.forEach((request) => request.isLong && request.abort("left"));
      }
    })
  );

  window.fetch = function (resource, options) {
    const url = String((resource && resource.url) || resource);
    if (!url.includes(CALLBACKS)) {
      return send(resource, options);
    }
    const request = new AbortController();
    const theirs = options && options.signal;
    theirs && theirs.addEventListener("abort", () => request.abort());
    const body = String((options && options.body) || "");
    request.isLong = LONG.some((output) => body.includes('"output":"' + output) || body.includes('"output":"..' + output));
    running.add(request);
    const slow = setTimeout(() => say(words("slow"), [[words("cancel"), cancelAll], retry()]), SLOW_MS);
    const over = setTimeout(() => request.abort("timed out"), LONGEST_MS);
    return send(resource, Object.assign({}, options, { signal: request.signal }))
      .then((answer) => {
        done();
        if (answer.status === 401 || answer.status === 403) {
          say(words("loggedOut"), [[words("logIn"), () => window.location.reload()]]);
        } else if (answer.status >= 500) {
          say(words("serverError").replace("STATUS", answer.status), [retry(), dismiss()]);
        }
        return answer;
      })
      .catch((error) => {
        done();
        const why = request.signal.reason;
        if (why === "cancelled") {
          say(words("cancelled"), [retry(), dismiss()]);
          return NOTHING_NEW();
        } else if (why === "left") {
          return NOTHING_NEW();
        } else if (why === "timed out") {
          say(words("timedOut").replace("SECONDS", LONGEST_MS / 1000), [retry(), dismiss()]);
        } else if (!request.signal.aborted) {
          say(words("away"), [retry(), dismiss()]);
        }
        throw error;
      });

    function done() {
      clearTimeout(slow);
      clearTimeout(over);
      running.delete(request);
      clear();
    }
  };
})();
