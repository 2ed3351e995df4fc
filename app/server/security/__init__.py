"""Authentication, request limits and security headers."""
