"""`python -m pratique_ingest`; a spawned child passes by this module and imports nothing of `main`."""

from pratique_ingest.main import main

main()
