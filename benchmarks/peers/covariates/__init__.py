"""Packages that use covariates of users or features of items, next to plurank."""
