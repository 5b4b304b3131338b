"""Are two stored matrices one? Their bytes first, then their numbers, in blocks of bounded size."""
