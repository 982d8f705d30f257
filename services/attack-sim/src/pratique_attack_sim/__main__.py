"""`python -m pratique_attack_sim`; a spawned child passes by this module and imports nothing of `main`."""

from pratique_attack_sim.main import main

main()
