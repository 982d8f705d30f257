"""A node: it trains on the rows of its own pilot, of the very file that the aggregator cleared."""

from functools import cache

import pyarrow.parquet as pq
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from posture_gated import model
from pratique import Client
from pratique.flower import DIGESTS, RELEASES

app = ClientApp()


@cache
def rows(release: str, sha256: str, pilot: str) -> tuple[model.Floats, model.Ints]:
    """Return features and labels of one pilot; the file comes from the cache, or is received into it."""
    with Client() as pratique:
        kept = pratique.cached_records(release, expect=sha256)
    columns = [*model.FEATURES, "role", "pilot"]
    table = pq.read_table(kept.path, columns=columns, filters=[("pilot", "==", pilot)]).to_pydict()
    return model.features(table), model.labels(table["role"])


def own_rows(message: Message, context: Context) -> tuple[model.Floats, model.Ints]:
    """Return the rows of this node's pilot in the release that the message names."""
    config = message.content["config"]
    (release,), (sha256,) = config[RELEASES], config[DIGESTS]
    return rows(release, sha256, str(context.node_config["pilot"]))


@app.train()
def train(message: Message, context: Context) -> Message:
    """Train the weights of the message on the own rows."""
    x, y = own_rows(message, context)
    (weights,) = message.content["arrays"].to_numpy_ndarrays()
    trained = model.train(weights, x, y, int(context.run_config["local-steps"]))
    metrics = MetricRecord({"loss": model.loss(trained, x, y), "num-examples": len(y)})
    content = RecordDict({"arrays": ArrayRecord(numpy_ndarrays=[trained]), "metrics": metrics})
    return Message(content=content, reply_to=message)


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    """Tell how often the weights of the message name the role of an own host."""
    x, y = own_rows(message, context)
    (weights,) = message.content["arrays"].to_numpy_ndarrays()
    metrics = MetricRecord({"accuracy": model.accuracy(weights, x, y), "num-examples": len(y)})
    return Message(content=RecordDict({"metrics": metrics}), reply_to=message)
