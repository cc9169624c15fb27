"""Fits from memory, from a store and on a cluster, and their faults."""
