"""Every kind of model on a cluster, from every store."""

import pytest

from tests.engine.conftest import cluster, stored, weighted_store
from tests.engine.test_engines import fit_on_a_cluster, fitted_in_memory


@pytest.mark.parametrize("which", ["stored", "weighted_store"])
@pytest.mark.parametrize("name", ["mixed", "as if rated", "the paper's", "the paper's projections"])
def test_a_cluster_fits_every_store_as_one_process_does(name, which, cluster, fitted_in_memory, request):
    fit_on_a_cluster(name, which, cluster, fitted_in_memory, request)
