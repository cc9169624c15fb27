"""The service: a fitted model over HTTP, and the live page."""
