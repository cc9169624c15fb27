"""Data input: comparisons, ratings and rankings, read from files and frames, and validated once.

Files become frames (``frames``, ``formats``), frames become rows of ids (``columns``) or ratings (``ratings``), these
become integer codes (``build``, ``encoding``, ``coded``), and these are what ``Comparisons`` holds.
"""

import lazy_loader

# the names in __init__.pyi, imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
