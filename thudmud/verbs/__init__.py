"""What players can say, a module for each family of verbs: what each means, and what it decides.

Pure: nothing here changes anything. `thudmud.verbs.decisions.decide` says what a command would
bring about.
"""

from thudmud.verbs import people

__all__ = ["people"]
