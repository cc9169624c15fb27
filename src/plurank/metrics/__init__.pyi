# What metrics offers to other packages. Type checkers read this file; __init__.py imports the names on first use.

from .predictions import Influence as Influence
from .predictions import Quality as Quality
from .predictions import accuracy as accuracy
from .predictions import calibration_table as calibration_table
from .predictions import check_influence as check_influence
from .predictions import check_quality as check_quality
from .predictions import log_likelihood as log_likelihood
from .rankings import align as align
from .rankings import disagreement as disagreement
from .rankings import kendall_tau as kendall_tau
from .rankings import most_divided_items as most_divided_items
from .rankings import order_by_score as order_by_score
from .rankings import places_from_one as places_from_one
from .rankings import places_of as places_of
from .rankings import ranking_error as ranking_error

__all__: list[str]
