"""Inference about users and items, given a fitted model."""
