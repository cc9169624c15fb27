"""The live page and the report, driven in a browser."""
