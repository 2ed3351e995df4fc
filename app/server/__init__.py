"""The HTTP server: Prometheus' HTTP API, metrics, health, security, downloads, and the web app in it."""
