"""How close rankings come to the truth, and predictions to what people chose."""
