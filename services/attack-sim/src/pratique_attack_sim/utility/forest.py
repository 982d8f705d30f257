"""The random forest: the one module that imports scikit-learn, which takes seconds to load."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from pratique_attack_sim.utility.study import Predict
from pratique_attack_sim.utility.table import Ranks


def learn_forest(features: Ranks, labels: Ranks, trees: int, seed: int) -> Predict:
    """Fit a forest with balanced class weights in one thread (Kekatos et al. 2026, §V-G)."""
    forest = RandomForestClassifier(n_estimators=trees, class_weight="balanced", random_state=seed, n_jobs=1)
    # Trees read 32-bit floats; ranks are whole numbers that those hold exactly.
    forest.fit(features.astype(np.float32), labels)

    def predict(others: Ranks) -> Ranks:
        found: Ranks = forest.predict(others.astype(np.float32)).astype(np.int32)
        return found

    return predict
