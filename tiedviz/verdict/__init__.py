"""Is it tied? Four witnesses, one of ten words, and what follows from it.

`audit` puts together what the witnesses say: `declared` reads config.json, `stored` and `copies`
the files, `loaded` and `live` an open model. `decide` chooses the word, `wording` what is said of
it, `repair` what mends the files. What headers say needs neither torch nor numpy.
"""
