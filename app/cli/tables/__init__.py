"""Results as terminal tables, JSON and CSV. In: records of queries and services. Out: text on stdout."""
