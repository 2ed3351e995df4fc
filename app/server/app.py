"""The web app as a server. In: a lake. Out: a Dash application with the HTTP API, or a running gunicorn on loopback.

Read-only, stateless between requests, nothing fetched from elsewhere. Workers are processes, each
with its own reader; any of them can answer any request.
"""

from __future__ import annotations

import atexit
import gc
import socket
from collections.abc import Callable, Collection
from functools import partial, wraps
from pathlib import Path

from dash import ClientsideFunction, Dash, Input, Output, State
from flask import Flask, redirect, request

from throttlescope.app import web
from throttlescope.app.presentation.links.paths import OVERVIEW_PATH, SUBSCRIPTIONS_PATH
from throttlescope.app.server.api.routes import DEFAULT_LIMITS, NO_ORIGIN, api_blueprint
from throttlescope.app.server.compressed_scripts import compress_scripts
from throttlescope.app.server.exports.routes import export_blueprint
from throttlescope.app.server.health.data_files import DataFiles
from throttlescope.app.server.health.ready import state_blueprint
from throttlescope.app.server.metrics.routes import metrics_blueprint
from throttlescope.app.server.rest.routes import rest_blueprint
from throttlescope.app.server.security.bodies import bound_bodies
from throttlescope.app.server.security.dash_requests import refuse_foreign_requests
from throttlescope.app.server.security.headers import protect
from throttlescope.app.server.security.hosts import admit_hosts
from throttlescope.app.server.security.login import OPEN_ACCESS, AccessControl, guard
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit, QueryLimits
from throttlescope.app.services.promql.lake_queries import LakeQueries
from throttlescope.app.services.server_counters import count_lookup, count_requests
from throttlescope.app.services.whatif import warm
from throttlescope.app.web import request_language, warm_pages
from throttlescope.app.web.components.index_page import first_frame
from throttlescope.app.web.components.shell import explained, not_found, shell
from throttlescope.app.web.components.static_parts import with_static_parts
from throttlescope.app.web.data.promql import PROMQL_ACCESS, PromqlAccess
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.live import Live
from throttlescope.app.web.pages import IN_HEADER, PAGES
from throttlescope.app.web.pages.subscription.now import LIVE
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake.cached_lake import RememberingLake
from throttlescope.models.messages.language import HTML_CODES, current

LOOPBACK = "127.0.0.1"
PORT = 8050
#: Name of the pages' reader among the application's extensions.
READER = "throttlescope-reader"
#: Size of each worker's cache of data files.
_CACHE_BYTES = 500_000_000
# Per worker, in addition to the threads of queries: pages are answered however busy the queries are.
_THREADS_OF_PAGES = 8

# As Dash's own, with a language and a frame that needs no script.
_PAGE = """<!DOCTYPE html>
<html lang="LANGUAGE">
<head>{%metas%}<title>{%title%}</title>{%favicon%}{%css%}</head>
<body>FIRST_FRAME{%app_entry%}<footer>{%config%}{%scripts%}{%renderer%}</footer></body>
</html>"""


class PagesDash(Dash):
    """A Dash application whose index page is in the language of the request, and whose callbacks send few components."""

    def callback(self, *arguments, **options):
        register = super().callback(*arguments, **options)

        def decorate(build: Callable) -> Callable:
            @wraps(build)
            def sent(*values):
                return with_static_parts(build(*values))

            register(sent)
            return build

        return decorate

    def interpolate_index(self, **parts: str) -> str:
        page = super().interpolate_index(**parts).replace("LANGUAGE", HTML_CODES[current()], 1)
        return page.replace("FIRST_FRAME", first_frame(_in_header()), 1)


def _in_header() -> list[tuple[str, str]]:
    return [(page.label, page.path) for page in IN_HEADER]


def create_app(
    lake_path: str | Path,
    *,
    host: str = LOOPBACK,
    limits: QueryLimits = DEFAULT_LIMITS,
    cors_origin: str = NO_ORIGIN,
    access: AccessControl = OPEN_ACCESS,
    live: Live | None = None,
    tables: Collection[str] = (),
) -> Dash:
    """The Dash application on one lake; ``.server`` is its WSGI callable.

    Parameters
    ----------
    lake_path : str or Path
        The lake's folder. An empty one gives pages that say what to do.
    host : str
        Where it will listen. It decides for which host names requests are answered: see
        :func:`~throttlescope.app.server.security.hosts.admit_hosts`.
    limits : QueryLimits
        What the HTTP API's queries may take in this process.
    cors_origin : str
        Regular expression of the origins whose pages may read the HTTP API.
    access : AccessControl
        Who is let in.
    live : Live, optional
        The sources that *diagnose now* asks.
    tables : collection of str, optional
        Tables that were there before. One of them that is not there now, or later, is a fault and not an empty table; so is
        every other one, once it was read.
    """
    here = Path(web.__file__).parent
    app = PagesDash(
        __name__,
        # Flask cannot find its folders below a namespace package, so they are given.
        server=Flask(__name__, root_path=str(here), instance_path=str(here), static_folder=None),
        assets_folder=str(here / "assets"),
        title="throttlescope",
        index_string=_PAGE,
        update_title=None,
        suppress_callback_exceptions=True,
        health_endpoint="healthz",
        # Plain text and no scripts in it; the browser needs the width for small screens.
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    admit_hosts(app.server, host, access.external_hosts)
    bound_bodies(app.server)
    count_requests(app.server)
    compress_scripts(app.server)
    request_language.register(app.server)
    guard(app.server, access)
    refuse_foreign_requests(app)
    # Separate ones: pages that wait for a slow store do not block queries.
    lake, lake_of_pages = RememberingLake(lake_path, tables), RememberingLake(lake_path, tables)
    queries = LakeQueries(lake, cache_bytes=_CACHE_BYTES, on_look=partial(count_lookup, "samples"))
    concurrency = ConcurrencyLimit(limits.running, limits.waiting)
    app.server.register_blueprint(
        api_blueprint(queries, limits, concurrency=concurrency, cors_origin=cors_origin)
    )
    # PromQL of pages uses the API's limits and concurrency.
    app.server.extensions[PROMQL_ACCESS] = PromqlAccess(queries, limits, concurrency)
    reader = LakeReader(lake_of_pages)
    files = DataFiles(lake, reader.newest_files)
    app.server.register_blueprint(metrics_blueprint(lake, checks=(reader.check, files.check)))
    app.server.register_blueprint(
        rest_blueprint(
            reader,
            limits,
            concurrency=concurrency,
            checks=(reader.check, files.check),
            cors_origin=cors_origin,
        )
    )
    app.server.register_blueprint(
        state_blueprint(
            {"the API": queries.catalogue, "the pages": reader.check, "the lake's files": files.check}
        )
    )
    app.server.extensions[LIVE] = live
    # The first request finds a snapshot, or one that is being made.
    reader.watch()
    app.server.extensions[READER] = reader
    app.server.register_blueprint(export_blueprint(lake, reader))
    # Built per request: it contains the time zone and the language of cookies.
    app.layout = lambda: shell(_in_header())

    @app.callback(Output("page", "children"), Input("address", "pathname"), State("address", "search"))
    @explained
    def route(pathname, query):
        page = PAGES.get(pathname)
        return not_found(pathname or "") if page is None else page.frame(query)

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
        # The table of subscriptions was once the start page; its links keep working.
        if request.path == OVERVIEW_PATH and request.args.keys() & {"q", "cause", "view", "own"}:
            return redirect(f"{SUBSCRIPTIONS_PATH}?{request.query_string.decode()}")
        return None

    # Dash knows its script files only after it has built the first page once. A worker whose first
    # request is for such a file, of a page that another worker built, would answer with a fault.
    with app.server.test_request_context("/", base_url=f"http://{LOOPBACK}"):
        app.index()
    protect(app)
    return app


def serve(
    lake_path: str | Path,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    workers: int = 2,
    limits: QueryLimits = DEFAULT_LIMITS,
    cors_origin: str = NO_ORIGIN,
    access: AccessControl = OPEN_ACCESS,
    live: Live | None = None,
    tables: Collection[str] = (),
) -> None:
    """Serve until interrupted. Parameters as of :func:`create_app`.

    Raises
    ------
    InputError
        The port is taken or the address is not this machine's.
    """
    _check_free(host, port)
    # Imported late: only a server needs it, and it does not exist on Windows.
    from gunicorn.app.base import BaseApplication

    from throttlescope.app.server.security.slow_clients import BoundedWorker

    class Server(BaseApplication):
        def load_config(self):
            for name, value in (
                ("bind", f"[{host}]:{port}" if ":" in host else f"{host}:{port}"),
                ("workers", workers),
                ("threads", limits.running + limits.waiting + _THREADS_OF_PAGES),
                ("worker_class", BoundedWorker),
                ("accesslog", None),
                ("loglevel", "warning"),
                ("proc_name", "throttlescope"),
                # For a worker without a heartbeat. The main thread sends it, however long the other threads work;
                # the worker itself limits how long a client may occupy those.
                ("timeout", 60),
                # Clients reuse connections, and would meet a closed one if the server closed it first.
                ("keepalive", 100),
                # The largest possible limit; longer queries use POST.
                ("limit_request_line", 8190),
                # It is not used, and would leave a socket in the user's home.
                ("control_socket_disable", True),
            ):
                self.cfg.set(name, value)

        def load(self):
            # In each worker, after the fork: DuckDB and Delta have threads that do not survive one.
            warm.begin()
            app = create_app(
                lake_path,
                host=host,
                limits=limits,
                cors_origin=cors_origin,
                access=access,
                live=live,
                # A worker that takes the place of a dead one has not seen what was there.
                tables=tables,
            )
            warm_pages.begin(app.server.extensions[READER])
            return app.server

    # Workers share what was loaded before they were forked, as long as no collector writes into it. At the end it is collected
    # like everything else: DuckDB's library complains of what is left.
    warm.if_compiled()
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)
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
