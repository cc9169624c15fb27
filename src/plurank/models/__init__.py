"""What all estimators share: the base class, persistence, and what can be asked of a fitted model."""
