"""Inference about users and items, given a fitted model."""

import lazy_loader

# the names in __init__.pyi, imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
