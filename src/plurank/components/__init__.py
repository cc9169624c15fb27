"""What one ranking means: how it decides a comparison."""
