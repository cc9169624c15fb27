"""Where work runs, never what it is: here (``local``) or on a cluster (``dask``)."""
