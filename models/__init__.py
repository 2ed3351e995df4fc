"""Why a subscription has a backlog. In: signals. Out: verdicts; pure functions only."""
