"""PromQL over a lake for the HTTP API, the command line and the web app. In: a query. Out: an answer, or a one-line error."""
