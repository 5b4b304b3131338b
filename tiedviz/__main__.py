"""`python -m tiedviz COMMAND MODEL …`: every number on a page, without the page."""

import gc
import sys

# A verdict from headers is over in the time it takes to import its modules. The cyclic collector
# would find nothing in them and take a tenth of it; what opens a model turns it on again.
gc.disable()

from tiedviz.commands.line import main  # noqa: E402

status = main()
if not gc.isenabled():
    gc.freeze()  # nor does it search the modules when the interpreter ends
sys.exit(status)
