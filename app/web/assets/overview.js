// The overview: a click on its chart opens that moment and lists that cause; how old the newest data is.
(function () {
  "use strict";

  const { navigate } = window.throttlescope;

  Object.assign(window.dash_clientside.throttlescope, {
    openMoment: function (clicked) {
      const point = clicked && clicked.points && clicked.points[0];
      if (point && Array.isArray(point.customdata)) {
        const url = new URL(window.location.href);
        url.searchParams.set("at", point.customdata[0]);
        url.searchParams.delete("show");
        url.searchParams.append("show", point.customdata[1]);
        navigate(url.href, true);
      }
      return window.dash_clientside.no_update;
    },
  });
})();
