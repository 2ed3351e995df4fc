"""The language of a request. In: its path, a cookie, ``Accept-Language``. Out: a language; pages and downloads for people have it.

What programs read is English: the HTTP API, metrics and health. A choice in the header of the pages is kept in a cookie, as the time zone is.
"""

from __future__ import annotations

from urllib.parse import unquote

from flask import Flask, Response, request

from throttlescope.models.messages import language

COOKIE = "throttlescope-language"
_OF_PROGRAMS = ("/api/", "/metrics", "/-/", "/healthz")


def of_request() -> str:
    """The language that the reader chose, or that the browser prefers."""
    if request.path.startswith(_OF_PROGRAMS):
        return language.DEFAULT_LANGUAGE
    chosen = language.language_of(unquote(request.cookies.get(COOKIE, "")))
    return chosen or language.of_header(request.headers.get("Accept-Language", ""))


def register(server: Flask) -> None:
    """Give every request its language; threads serve many requests, so each one begins with its own."""

    @server.before_request
    def begin() -> None:
        language.begin(of_request())

    @server.teardown_request
    def end(error: BaseException | None) -> None:
        language.begin(None)

    @server.after_request
    def say(response: Response) -> Response:
        if response.mimetype == "text/html" and not request.path.startswith(_OF_PROGRAMS):
            response.headers["Content-Language"] = language.HTML_CODES[language.current()]
            response.vary.update(("Accept-Language", "Cookie"))
        return response
