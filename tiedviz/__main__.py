"""`python -m tiedviz COMMAND MODEL …`: every number on a page, without the page."""

import sys

from tiedviz.commands.line import main

sys.exit(main())
