"""What the data say before any model: sums over users that can be added, merged and finished."""
