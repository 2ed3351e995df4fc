// Parts of a page without behaviour: elements as they were sent, one component for all of them (see components/static_parts.py).
(function () {
  "use strict";

  const scope = window.throttlescope;

  scope.StaticPart = function StaticPart(props) {
    return element(props.part);
  };

  function element(part) {
    if (!Array.isArray(part)) {
      return part;
    }
    const [tag, sent, ...children] = part;
    const props = Object.assign({}, sent);
    ["href", "src"].forEach((name) => {
      if (props[name]) {
        props[name] = window.dash_clientside.clean_url(props[name]);
      }
    });
    if (tag === "Link") {
      props.onClick = follow;
    }
    return window.React.createElement(tag === "Link" ? "a" : tag, props, ...children.map(element));
  }

  // As dcc.Link does.
  function follow(event) {
    if (event.metaKey || event.shiftKey || event.altKey || event.ctrlKey) {
      return;
    }
    event.preventDefault();
    window.history.pushState({}, "", event.currentTarget.href);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    window.scrollTo(0, 0);
  }
})();
