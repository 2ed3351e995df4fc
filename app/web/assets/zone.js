// UTC or the browser's own time zone. The choice is a cookie, so that the server writes the times itself.
(function () {
  "use strict";

  const COOKIE = "throttlescope-zone";

  document.addEventListener("click", function (event) {
    const toggle = event.target.closest && event.target.closest("#zone-toggle");
    if (!toggle) {
      return;
    }
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    const isUtc = !document.cookie.split("; ").some((part) => part.startsWith(COOKIE + "="));
    const kept = "; path=/; SameSite=Strict; max-age=";
    document.cookie = COOKIE + "=" + encodeURIComponent(own) + kept + (isUtc ? 31536000 : 0);
    // The address is the state: the same page comes back with its times in the new zone.
    window.location.reload();
  });
})();
