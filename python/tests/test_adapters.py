"""Other people's federations against the real packages; ./dev adapters installs them and runs this."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import decaying_samples, sin_theta

import hearsay

EXAMPLES = Path(os.environ.get("HEARSAY_SOURCE", Path(__file__).parents[2])) / "examples" / "adapters"


def example(name, package):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed (./dev adapters installs it)")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def shards():
    return np.array_split(decaying_samples(300, 12, seed=1, offset=2.0), 3)


# ---- Flower ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def flower():
    return example("flower_app", "flwr")


def loopback(flower, folder, shards, fails=None):
    """Flower's own messages and client, without its processes: what the grid would carry, it hands over."""
    from flwr.app import Context, Error, Message, RecordDict
    from flwr.serverapp import Grid

    class Loopback(Grid):
        rounds = 0

        def set_run(self, *args, **kwargs): ...

        @property
        def run(self): ...

        def create_message(self, *args, **kwargs): ...

        def push_messages(self, messages): ...

        def pull_messages(self, message_ids): ...

        def get_node_ids(self):
            return [41, 7, 23]

        def send_and_receive(self, messages, *, timeout=None):
            self.rounds += 1
            replies = []
            for message in messages:
                node = message.metadata.dst_node_id
                context = Context(1, node, {"data": str(folder / f"{node}.npy")}, RecordDict(), {})
                message.metadata._src_node_id = 1
                if fails is not None and node == fails and self.rounds > 3:
                    reply = Message(Error(code=0, reason="the disk is gone"), reply_to=message)
                else:
                    reply = flower.client(message, context)
                reply.metadata._src_node_id = node
                replies.append(reply)
            return replies[::-1]

    try:
        from flwr.supercore.task_identity import TaskIdentity
    except ImportError:
        pass  # a Flower whose messages do not ask who they are from
    else:
        TaskIdentity.run_id = TaskIdentity.task_id = TaskIdentity.node_id = 1
    for node, shard in zip((7, 23, 41), shards, strict=True):
        np.save(folder / f"{node}.npy", shard)
    return Loopback()


def test_a_flower_server_adds_up_what_clients_multiply(flower, shards, tmp_path):
    whole = hearsay.PCA(3).fit(np.vstack(shards))
    grid = loopback(flower, tmp_path, shards)

    components, variances, mean, info = flower.pca(grid, 3)

    assert info.status == "converged" and info.certificate.sin_theta in ("bound", "estimate")
    assert sin_theta(whole.components_.T, components.T) <= 1e-8
    assert np.allclose(variances, whole.explained_variance_, rtol=1e-9) and np.allclose(mean, whole.mean_)
    assert grid.rounds < 60
    again = flower.pca(loopback(flower, tmp_path, shards), 3)
    assert np.array_equal(again[0], components)


def test_a_flower_client_that_fails_is_named(flower, shards, tmp_path):
    with pytest.raises(hearsay.CommunicationError, match="node 23, product: the disk is gone"):
        flower.pca(loopback(flower, tmp_path, shards, fails=23), 3)
    shards[1] = shards[1][:, :11]
    with pytest.raises(hearsay.DataError, match="features of the clients"):
        flower.pca(loopback(flower, tmp_path, shards), 3)


# ---- NVFlare --------------------------------------------------------------------------------------------------------

JOB = """
import sys
from nvflare.job_config.api import FedJob
from nvflare_app import PostOffice, Site
data, workspace = sys.argv[1:]
job = FedJob(name="hearsay", min_clients=3)
job.to_server(PostOffice())
for site in ("site-1", "site-2", "site-3"):
    job.to(Site(data=data + "/{site}.npy", components=data + "/{site}.components.npy",
                settings={"n_components": 3, "tol": 1e-6}), site, tasks=["hearsay"])
job.simulator_run(workspace, threads=3)
"""


def test_nvflare_sites_end_with_the_digest_of_one_process(shards, tmp_path):
    example("nvflare_app", "nvflare")
    for site, shard in enumerate(shards, 1):
        np.save(tmp_path / f"site-{site}.npy", shard)
    whole = hearsay.DecentralizedPCA(3, topology="complete", tol=1e-6).fit(shards)

    run = subprocess.run(
        [sys.executable, "-B", "-c", JOB, str(tmp_path), str(tmp_path / "workspace")],
        env={**os.environ, "PYTHONPATH": f"{EXAMPLES}:{os.environ.get('PYTHONPATH', '')}", "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )

    digest = f"{whole.info_.digest:016x}"
    words = json.dumps({f"site-{site}": digest for site in (1, 2, 3)}).replace('"', "'")
    assert f"hearsay: {words}" in run.stdout + run.stderr, (run.stdout + run.stderr)[-3000:]
    for site in (1, 2, 3):
        components = np.load(tmp_path / f"site-{site}.components.npy")
        assert np.array_equal(components, whole.agent_components_[site - 1])
