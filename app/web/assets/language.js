// The language of the pages. The choice is a cookie, so that the server writes the text itself.
(function () {
  "use strict";

  const COOKIE = "throttlescope-language";

  document.addEventListener("click", function (event) {
    const choice = event.target.closest && event.target.closest("#language-toggle");
    if (!choice) {
      return;
    }
    document.cookie = COOKIE + "=" + encodeURIComponent(choice.dataset.language) + "; path=/; SameSite=Strict; max-age=31536000";
    // The address is the state: the same page comes back in the other language.
    window.location.reload();
  });
})();
