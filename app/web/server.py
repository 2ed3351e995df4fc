"""The web app as a server. In: a lake. Out: a Dash application with the HTTP API beside it, or a running gunicorn on loopback.

Read-only, stateless between requests, nothing fetched from elsewhere. Workers are processes, each
with its own reader; any of them can answer any request.
"""

from __future__ import annotations

import socket
from pathlib import Path

from dash import ClientsideFunction, Dash, Input, Output, State
from flask import Flask, redirect, request

from throttlescope.app.api.endpoints import QueryLimits
from throttlescope.app.api.lake_queries import LakeQueries
from throttlescope.app.api.routes import DEFAULT_LIMITS, NO_ORIGIN, api_blueprint
from throttlescope.app.metrics.routes import metrics_blueprint
from throttlescope.app.web.address import OVERVIEW_PATH, SUBSCRIPTIONS_PATH
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages import IN_HEADER, PAGES
from throttlescope.app.web.shell import explained, not_found, shell
from throttlescope.ingest.errors import InputError

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = (LOOPBACK, "localhost", "[::1]", "::1")
PORT = 8050
#: What each worker keeps of the files that queries read.
_CACHE_BYTES = 500_000_000
# Of each worker, beside those that queries work or wait in: pages are answered whatever the queries do.
_THREADS_OF_PAGES = 8


def create_app(
    lake_path: str | Path,
    *,
    host: str = LOOPBACK,
    limits: QueryLimits = DEFAULT_LIMITS,
    cors_origin: str = NO_ORIGIN,
) -> Dash:
    """The Dash application on one lake; ``.server`` is its WSGI callable.

    Parameters
    ----------
    lake_path : str or Path
        The lake's folder. An empty one gives pages that say what to do.
    host : str
        Where it will listen. On loopback only requests for a loopback name are answered, so that a
        foreign web page cannot reach the app through a name that it points to this machine.
    limits : QueryLimits
        What the HTTP API's queries may take in this process.
    cors_origin : str
        Regular expression of the origins whose pages may read the HTTP API.
    """
    here = Path(__file__).parent
    app = Dash(
        __name__,
        # Told its folders, Flask need not find them: it cannot below a namespace package.
        server=Flask(__name__, root_path=str(here), instance_path=str(here), static_folder=None),
        assets_folder=str(here / "assets"),
        title="throttlescope",
        update_title=None,
        suppress_callback_exceptions=True,
        health_endpoint="healthz",
        # Plain text and no scripts in it; the browser needs the width for small screens.
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    if host in LOOPBACK_NAMES:
        app.server.config["TRUSTED_HOSTS"] = list(LOOPBACK_NAMES)
    queries = LakeQueries(lake_path, cache_bytes=_CACHE_BYTES)
    app.server.register_blueprint(api_blueprint(queries, limits, cors_origin=cors_origin))
    app.server.register_blueprint(metrics_blueprint(queries.lake))
    reader = LakeReader(lake_path)
    app.layout = shell([(page.TITLE, page.PATH) for page in IN_HEADER])

    @app.callback(Output("page", "children"), Input("address", "pathname"), State("address", "search"))
    @explained
    def route(pathname, query):
        page = PAGES.get(pathname)
        return not_found(pathname or "") if page is None else page.layout(query)

    app.clientside_callback(
        ClientsideFunction("throttlescope", "setTitle"),
        Output("page", "className"),
        Input("address", "pathname"),
        Input("address", "search"),
    )
    for page in PAGES.values():
        page.register(app, reader)

    @app.server.before_request
    def moved():
        # The table of subscriptions was the first page once; its links go on to work.
        if request.path == OVERVIEW_PATH and request.args.keys() & {"q", "cause", "view", "own"}:
            return redirect(f"{SUBSCRIPTIONS_PATH}?{request.query_string.decode()}")
        return None

    @app.server.after_request
    def protect(response):
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    # Dash knows its script files only after it has built the first page once. A worker whose first
    # request is for such a file, of a page that another worker built, would answer with a fault.
    app.server.test_client().get("/", base_url=f"http://{LOOPBACK}")
    return app


def serve(
    lake_path: str | Path,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    workers: int = 2,
    limits: QueryLimits = DEFAULT_LIMITS,
    cors_origin: str = NO_ORIGIN,
) -> None:
    """Serve until interrupted.

    Raises
    ------
    InputError
        The port is taken or the address is not this machine's.
    """
    _check_free(host, port)
    # Imported late: only a server needs it, and it does not exist on Windows.
    from gunicorn.app.base import BaseApplication

    class Server(BaseApplication):
        def load_config(self):
            for name, value in (
                ("bind", f"[{host}]:{port}" if ":" in host else f"{host}:{port}"),
                ("workers", workers),
                ("threads", limits.running + limits.waiting + _THREADS_OF_PAGES),
                ("worker_class", "gthread"),
                ("accesslog", None),
                ("loglevel", "warning"),
                ("proc_name", "throttlescope"),
                # Of a worker that gives no sign of life. Its main thread does, however long the others are at work.
                ("timeout", 60),
                # Clients keep connections for the next query, and meet a closed one if the server gives up first.
                ("keepalive", 100),
                # The most that there is beside no limit; longer queries come by POST.
                ("limit_request_line", 8190),
                # Nobody asks it anything; it would leave a socket in the user's home.
                ("control_socket_disable", True),
            ):
                self.cfg.set(name, value)

        def load(self):
            # In each worker, after the fork: DuckDB and Delta have threads that do not survive one.
            return create_app(lake_path, host=host, limits=limits, cors_origin=cors_origin).server

    Server().run()


def _check_free(host: str, port: int) -> None:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, port), family=family):
            pass
    except OSError as error:
        raise InputError(
            f"The server cannot listen on {host}:{port}",
            got=error.strerror or str(error),
            fix="choose another with --port N",
        ) from error
