# What is asked of a fitted model. Type checkers read this file; __init__.py imports the names on first use.

from .consensus import agreement as agreement
from .consensus import camps as camps
from .persistence import save as save
from .person import Person as Person
from .person import as_answers as as_answers
from .person import first_pair as first_pair
from .streaming import write_weights as write_weights
from .summary import facts_as_html as facts_as_html
from .summary import list_divided as list_divided
from .summary import summarise_model as summarise_model
from .summary import summarise_ranking as summarise_ranking
from .summary import summarise_user as summarise_user
from .summary import summary_facts as summary_facts
from .votes import count_votes as count_votes

__all__: list[str]
