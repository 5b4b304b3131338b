"""The command line: every number on a page, without the page."""
