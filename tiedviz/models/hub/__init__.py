"""The model hub: what a repository holds, its headers by byte range, its files. Needs no torch."""
