"""Finding, fetching, converting and opening models. The only layer that builds one."""
