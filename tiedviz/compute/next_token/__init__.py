"""One state: read, compared with every row, taken apart."""
