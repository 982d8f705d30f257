"""`python -m pratique_privacy api|worker`; a spawned child passes by this module and imports nothing of `main`."""

from pratique_privacy.main import main

main()
