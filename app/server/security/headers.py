"""Security headers. In: the Dash application with all its callbacks. Out: headers on every answer.

Scripts come from this server alone and none is written into a page, so that a name which holds a tag
could not run even if it were not escaped. Styles are written into elements by Mantine, AG Grid and
Plotly, and pictures of charts are ``data:`` and ``blob:`` addresses; both are allowed.
"""

from __future__ import annotations

from dash import Dash

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    # Pages of another origin that --cors-origin allows read by CORS, which this does not restrict.
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: What is the same until another version is installed; Dash says itself how long it may be kept.
_OF_A_VERSION = ("text/javascript", "application/javascript", "text/css", "image/", "font/")

#: Of an answer that gunicorn itself gives to a request that it cannot read: nothing in it is a script, a style or a picture.
_OF_UNREADABLE = {
    **_ALWAYS,
    "Content-Security-Policy": "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


def with_security_headers(answer: bytes) -> bytes:
    """An answer as it is sent, with the headers of answers to requests that cannot be read."""
    first, line_end, rest = answer.partition(b"\r\n")
    added = "".join(f"{name}: {value}\r\n" for name, value in _OF_UNREADABLE.items())
    return first + line_end + added.encode("ascii") + rest


def content_security_policy(app: Dash) -> str:
    """The policy as one header; only after every callback is registered are its hashes whole."""
    rules = {
        "default-src": "'self'",
        # Dash writes one script into the page that starts its renderer; it is allowed by its hash.
        "script-src": " ".join(["'self'", *app.csp_hashes()]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def protect(app: Dash) -> None:
    """Put the headers on every answer of the application's server."""
    policy = content_security_policy(app)

    @app.server.after_request
    def add(response):
        for name, value in _ALWAYS.items():
            response.headers[name] = value
        response.headers["Content-Security-Policy"] = policy
        # An answer of "not modified" has no type, and what it says would replace what is kept.
        if response.status_code != 304 and not (response.mimetype or "").startswith(_OF_A_VERSION):
            # All else depends on the time and may depend on the person.
            response.headers.setdefault("Cache-Control", "no-store")
        return response
