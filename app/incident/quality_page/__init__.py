"""What the gates found as one page that needs nothing else: no server, no network, no script."""
