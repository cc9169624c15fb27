# What is asked of data only when input is read or sampled. Type checkers read this; __init__.py loads on first use.

from .coded import Exclusion as Exclusion
from .coded import list_exclusions as list_exclusions
from .columns import as_columns as as_columns
from .columns import check_options as check_options
from .columns import find_column as find_column
from .columns import read_rows as read_rows
from .items import Items as Items
from .items import add_items as add_items
from .items import read_items as read_items
from .ratings import compare_rankings as compare_rankings
from .ratings import compare_ratings as compare_ratings
from .ratings import is_agreement as is_agreement
from .readers import find_form as find_form
from .readers import read_observations as read_observations
from .split import every_nth_user as every_nth_user

__all__: list[str]
