"""The aggregator: federated averaging that begins a round only on cleared data."""

from flwr.app import ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from posture_gated.model import initial
from pratique import Profile
from pratique.flower import PostureGate

app = ServerApp()


class GatedAveraging(PostureGate, FedAvg):
    """Federated averaging behind a gate."""


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train for some rounds; a round that is refused ends the run with exit code 200."""
    run = context.run_config
    nodes = int(run["nodes"])
    strategy = GatedAveraging(
        releases=str(run["release"]),
        profile=Profile(k=float(run["min-k"]), linkage=float(run["max-linkage"]), name="round"),
        min_train_nodes=nodes,
        min_evaluate_nodes=nodes,
        min_available_nodes=nodes,
    )
    strategy.start(grid, ArrayRecord(numpy_ndarrays=[initial()]), num_rounds=int(run["rounds"]))
