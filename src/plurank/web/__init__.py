"""A fitted model over HTTP, the live page and surveys, and the answers that people give there."""
