"""Events and positions -> words and boards, for one viewer. Pure."""
