"""The paper, one file a step, and our additions; each file says which it is."""
