"""How good rankings and predictions are."""

import lazy_loader

# the names in __init__.pyi, imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
