// Inputs whose values are part of the address; its other parts stay, except the page of a long table.
(function () {
  "use strict";

  const { go } = window.throttlescope;
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  Object.assign(window.dash_clientside.throttlescope, {
    // The address wins when it changed; otherwise the inputs are written into it, without an entry in the history for every key.
    // Called with the address, each input's value, the path, and which inputs these are.
    syncInputs: function (search, ...rest) {
      const none = window.dash_clientside.no_update;
      const of = rest.pop();
      const pathname = rest.pop();
      const query = new URLSearchParams(search || "");
      if (pathname !== of.path || (of.unless && query.has(of.unless))) {
        return none;
      }
      const parts = of.inputs.map((input, at) => ({
        ...input,
        wanted: input.many ? query.getAll(input.part) : query.get(input.part) || "",
        shown: input.many ? rest[at] || [] : (rest[at] || "").trim(),
      }));
      const changed = parts.filter((one) => !isSame(one.wanted, one.shown));
      if (!changed.length) {
        return none;
      }
      const triggered = window.dash_clientside.callback_context.triggered_id;
      if (!parts.some((one) => one.id === triggered)) {
        changed.forEach((one) => window.dash_clientside.set_props(one.id, { value: one.wanted }));
        return none;
      }
      parts.forEach((one) => query.delete(one.part));
      query.delete("page");
      parts.forEach((one) => [].concat(one.shown).forEach((value) => value && query.append(one.part, value)));
      const written = query.toString();
      go("replaceState", of.path + (written ? "?" + written : ""));
      return none;
    },
  });
})();
