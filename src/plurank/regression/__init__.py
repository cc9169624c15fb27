"""How user weights depend on covariates of the users: Dirichlet regression, and what it says of groups."""
