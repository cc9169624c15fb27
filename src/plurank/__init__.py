"""plurank: the few rankings a population shares, and how much each person follows each, from pairwise comparisons."""

import lazy_loader

# the names in __init__.pyi, imported on first use, so that `import plurank` is quick
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_EXTRAS = {"save_figure": "report", "write_report": "report", "read_feedback": "web"}  # which need packages of an extra


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return globals().setdefault(name, version("plurank"))
    if name not in __all__:
        raise AttributeError(f"module 'plurank' has no attribute {name!r}", name=name)
    if name not in _EXTRAS:
        return _load(name)
    from plurank.exceptions import extra

    with extra(_EXTRAS[name], f"plurank.{name}"):
        return _load(name)
