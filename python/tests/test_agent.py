"""An agent of one's own: bytes in, bytes out, and the bits of one process."""

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import decaying_samples
from sklearn.datasets import load_digits

import hearsay


@pytest.fixture
def shards():
    return np.array_split(decaying_samples(300, 12, seed=1, offset=2.0), 4)


def carry(agents, spoil=None):
    """By hand, until everyone is done. No clock is asked: an agent that rests has said all that it has to say."""
    while not all(agent.done for agent in agents):
        for agent in agents:
            for neighbour, frame in agent.frames():
                for copy in [frame] if spoil is None else spoil(agent.number, neighbour, frame):
                    agents[neighbour].receive(agent.number, copy)


def agents_of(shards, **keywords):
    return [hearsay.Agent(shard, i, len(shards), **keywords) for i, shard in enumerate(shards)]


def threads_of_this_process():
    gc.collect()
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))


@pytest.mark.parametrize("topology", ["ring", "complete", "star", "erdos:0.6"])
@pytest.mark.parametrize("precision", ["double", "bfloat16"])
def test_agents_carried_by_hand_find_the_bits_of_one_process(shards, topology, precision):
    settings = {"n_components": 3, "topology": topology, "message_precision": precision, "random_state": 5}
    whole = hearsay.DecentralizedPCA(**settings).fit(shards)

    agents = agents_of(shards, **settings)
    carry(agents)

    for agent in agents:
        result = agent.result()
        assert result.digest == whole.info_.digest
        assert result.info.status == "converged" and result.unconfirmed == ""
        assert np.array_equal(result.components, whole.agent_components_[agent.number])
        assert np.array_equal(result.explained_variance, whole.info_.eigenvalues[agent.number])
        assert np.array_equal(result.mean, whole.mean_)
        assert result.samples_of == [len(shard) for shard in shards] and result.n_samples == 300
        assert tuple(link.neighbour for link in result.links) == agent.neighbours
        assert result.error_bar is None and result.info.traffic == whole.traffic_
    assert len({agent.result().run_id for agent in agents}) == 1


def test_the_digest_is_that_of_the_command_line(tmp_path):
    if "HEARSAY_BINARY" not in os.environ:
        pytest.skip("HEARSAY_BINARY is not set (ctest sets it)")
    pixels, labels = load_digits(return_X_y=True)
    shards = [pixels[labels == digit] for digit in range(10)]
    for digit, shard in enumerate(shards):
        np.save(tmp_path / f"{digit}.npy", shard)
    files = [tmp_path / f"{digit}.npy" for digit in range(10)]
    command = [os.environ["HEARSAY_BINARY"], "decentralized", *files, "-k", "4", "--quiet", "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)

    agents = agents_of(shards, n_components=4)
    carry(agents)

    assert {f"{agent.result().digest:016x}" for agent in agents} == {json.loads(run.stdout)["digest"]}
    assert json.loads(run.stdout)["digest"] == f"{hearsay.DecentralizedPCA(4).fit(shards).info_.digest:016x}"


def test_frames_that_come_twice_and_late_change_nothing(shards):
    whole = hearsay.DecentralizedPCA(3).fit(shards)
    earlier = {}

    def again(sender, neighbour, frame):
        before = earlier.get((sender, neighbour))
        earlier[sender, neighbour] = frame
        return [frame, frame] if before is None else [before, frame]

    agents = agents_of(shards, n_components=3)
    carry(agents, again)

    assert {agent.result().digest for agent in agents} == {whole.info_.digest}


def test_a_link_may_close_and_open_and_lose_what_was_on_it(shards):
    whole = hearsay.DecentralizedPCA(3).fit(shards)
    count = 0

    def lossy(sender, neighbour, frame):
        nonlocal count
        count += 1
        if count % 31 or agents[sender].done:
            return [frame]
        for here, there in ((sender, neighbour), (neighbour, sender)):
            agents[here].closed(there, "a storm")
            agents[here].opened(there)
        return []

    agents = agents_of(shards, n_components=3)
    carry(agents, lossy)

    assert {agent.result().digest for agent in agents} == {whole.info_.digest}
    assert sum(link.reconnections for agent in agents for link in agent.result().links) > 4


def test_a_damaged_frame_ends_the_run_everywhere_with_its_sender(shards):
    count = 0

    def spoil(sender, neighbour, frame):
        nonlocal count
        count += 1
        return [frame[:40] + bytes([frame[40] ^ 1]) + frame[41:]] if count == 60 else [frame]

    agents = agents_of(shards, n_components=3)
    carry(agents, spoil)

    for agent in agents:
        with pytest.raises(hearsay.CommunicationError, match="sent a frame"):
            agent.result()


def test_columns_are_matched_by_name(shards):
    pd = pytest.importorskip("pandas")
    names = [f"c{i}" for i in range(12)]
    tables = [pd.DataFrame(shard, columns=names) for shard in shards]
    tables[2] = tables[2][names[::-1]]

    agents = agents_of(tables, n_components=3)
    carry(agents)

    assert agents[2].result().columns_moved and not agents[1].result().columns_moved
    assert agents[2].result().features == names
    assert agents[0].result().digest == hearsay.DecentralizedPCA(3).fit(shards).info_.digest


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"tol": 1e-3}, "tolerance = "),
        ({"n_components": 2}, "rank = "),
        ({"configuration": "other"}, "configuration = other there, and none here"),
        ({"columns": list("abcdefghijkl")}, "names of features = "),
        ({"message_precision": "single"}, "message precision = single there, and double here"),
    ],
)
def test_agents_that_mean_different_runs_refuse_each_other_with_both_values(shards, keywords, words):
    agents = [
        hearsay.Agent(shard, i, 4, **{"n_components": 3, **(keywords if i == 2 else {})})
        for i, shard in enumerate(shards)
    ]
    carry(agents)

    with pytest.raises(hearsay.CommunicationError) as refusal:
        agents[1].result()
    assert words in str(refusal.value)


def test_time_is_what_is_told(shards):
    alone = hearsay.Agent(shards[0], 0, ["boston", "leeds"], 2, topology="path", clock="told", start_timeout=3600)
    assert len(alone.frames()) == 1 and not alone.frames()

    alone.tell(3599)
    assert not alone.frames() and not alone.done
    alone.tell(3601)
    alone.frames()

    assert alone.done
    with pytest.raises(
        hearsay.CommunicationError, match=r"not ready within 3600 s: agent 1 \(leeds\) \(not heard of\)"
    ):
        alone.result()
    with pytest.raises(hearsay.InvalidArgument, match="must not be before"):
        alone.tell(0)


def test_agents_on_threads_with_queues_between_them(shards):
    """As a network would carry them: one thread sends, whoever has a frame hands it over."""
    whole = hearsay.DecentralizedPCA(3).fit(shards)
    agents = agents_of(shards, n_components=3)

    def deliver(agent):
        while frames := agent.frames(timeout=None):
            for neighbour, frame in frames:
                agents[neighbour].receive(agent.number, frame)

    threads = [threading.Thread(target=deliver, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {agent.result().digest for agent in agents} == {whole.info_.digest}


def test_a_callback_sees_iterations_and_stops_everyone(shards):
    seen = []

    def watch(now):
        seen.append(now.t)
        return now.t < 4

    agents = [
        hearsay.Agent(shard, i, 4, 3, tol=0, callback=watch if i == 1 else None) for i, shard in enumerate(shards)
    ]
    carry(agents)

    assert seen[:5] == [0, 1, 2, 3, 4]
    assert {agent.result().info.status for agent in agents} == {"stopped_by_observer"}


def test_what_a_callback_raises_comes_out_here_and_its_name_elsewhere(shards):
    raised = RuntimeError("secrets of mine")

    def fail(now):
        raise raised

    agents = [hearsay.Agent(shard, i, 4, 3, callback=fail if i == 1 else None) for i, shard in enumerate(shards)]
    carry(agents)

    with pytest.raises(RuntimeError) as caught:
        agents[1].result()
    assert caught.value is raised
    for other in (0, 2, 3):
        with pytest.raises(hearsay.Error, match=r"agent 1 \(agent 1\): its callback raised RuntimeError$"):
            agents[other].result()


def test_stop_and_leave(shards):
    agents = agents_of(shards, n_components=3, tol=0)
    agents[3].stop()
    carry(agents)
    assert {agent.result().info.status for agent in agents} == {"stopped_by_observer"}

    agents = agents_of(shards, n_components=3)
    agents[3].leave()
    carry(agents)
    for agent in agents:
        with pytest.raises(hearsay.CommunicationError, match="was asked to stop"):
            agent.result()


def test_an_agent_that_is_dropped_leaves_no_thread_behind(shards):
    carry(agents_of(shards, n_components=3))  # OpenMP's own threads are there
    before = threads_of_this_process()
    for end in ("drop", "close", "with", "error"):
        agents = agents_of(shards, n_components=3, tol=0)
        for agent in agents:
            for neighbour, frame in agent.frames():
                agents[neighbour].receive(agent.number, frame)
        if end == "close":
            for agent in agents:
                agent.close()
                agent.close()
            assert repr(agents[0]).endswith("closed)") and agents[0].done
            with pytest.raises(hearsay.InvalidArgument, match="was closed"):
                agents[0].frames()
        elif end == "with":
            for agent in agents:
                with agent:
                    assert repr(agent).endswith("running)")
        elif end == "error":
            with pytest.raises(ZeroDivisionError), agents[0]:
                raise ZeroDivisionError
        del agents, agent
        assert threads_of_this_process() == before


def test_a_callback_cannot_close_its_own_agent(shards):
    agents = [
        hearsay.Agent(shard, i, 4, 3, callback=(lambda now: agents[1].close()) if i == 1 else None)
        for i, shard in enumerate(shards)
    ]
    carry(agents)
    with pytest.raises(hearsay.InvalidArgument, match="cannot be called by the agent's own callback"):
        agents[1].result()


def test_ctrl_c_breaks_into_waiting_and_the_agent_goes_on(shards):
    whole = hearsay.DecentralizedPCA(3).fit(shards)
    agents = agents_of(shards, n_components=3)
    agents[0].frames()
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        agents[0].frames(timeout=None)
    timer.join()
    agents[0].closed(1), agents[0].closed(3)  # what was taken above was not carried
    agents[0].opened(1), agents[0].opened(3)

    carry(agents)

    assert agents[0].result().digest == whole.info_.digest


def test_an_interpreter_ends_though_agents_run():
    script = """
import numpy as np, hearsay
kept = [hearsay.Agent(np.eye(5), i, 2, callback=lambda now: True) for i in range(2)]
for agent in kept:
    agent.frames()
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "keywords", "words"),
    [
        ((4, 4), {}, "agent 4: must lie in [0, 4)"),
        ((0, 0), {}, "agents = 0: must be at least 1"),
        ((0, ["a", "b"]), {"topology": "rign"}, "topology = rign"),
        ((0, 2), {"clock": "sun"}, "clock = sun: must be one of own|told"),
        ((0, 2), {"random_state": None}, "random_state = None: must be a number, the same at every agent"),
        ((0, 2), {"momentum": "optimal"}, "momentum = optimal"),
        ((0, 2), {"tol": -1}, "tol = -1"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(shards, arguments, keywords, words):
    with pytest.raises(hearsay.InvalidArgument) as refusal:
        hearsay.Agent(shards[0], *arguments, **keywords)
    assert words in str(refusal.value)


def test_what_only_the_run_can_refuse_is_raised_by_its_result(shards):
    agent = hearsay.Agent(shards[0], 0, 2, n_components=99)
    agent.frames()
    with pytest.raises(hearsay.InvalidArgument, match=r"must lie in \[1, 12\]"):
        agent.result()

    running = hearsay.Agent(shards[0], 0, 2)
    with pytest.raises(hearsay.Error, match="once it has ended"):
        running.result()
    with pytest.raises(hearsay.InvalidArgument, match="agent 3: is no neighbour of agent 0"):
        running.receive(3, b"")
    with pytest.raises(TypeError):
        running.receive(1, "text")
    with pytest.raises(TypeError):
        pickle.dumps(running)
