"""A data frame in, an Altair chart out."""
