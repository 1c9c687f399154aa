"""Agents that are processes of their own, over TLS on the loopback."""

import contextlib
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import ssl
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SOURCE

AGENT = pathlib.Path(shutil.which(BINARY) or BINARY).resolve().with_name("hearsay-agent")
HOSPITALS = ["cleveland", "hungarian", "switzerland", "va"]
needs_grpc = pytest.mark.skipif(not AGENT.exists(), reason=f"{AGENT} was not built: it needs libgrpc++-dev")


def free_ports(count):
    """Below those that the system lends to whoever dials: between this look and the listening nobody is given one of them."""
    lent_from = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = []
    while len(ports) < count:
        port = secrets.randbelow(lent_from - 10000) + 10000
        with socket.socket() as held, contextlib.suppress(OSError):
            held.bind(("127.0.0.1", port))
            ports += [port] if port not in ports else []
    return ports


class Agent:
    """A process whose lines on standard error can be waited for."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen([BINARY, "agent", "run", *map(str, arguments)], cwd=folder, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.heard = []

    def wait_for(self, words):
        for line in self.process.stderr:
            self.heard.append(line)
            if words in line:
                return line
        raise AssertionError(f"ended without '{words}': {''.join(self.heard)}")

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, out, "".join(self.heard) + err


class Federation:
    def __init__(self, hearsay, folder, names=tuple(HOSPITALS), outbound=("switzerland",), more=()):
        self.hearsay, self.folder, self.names = hearsay, folder, names
        self.ports = dict(zip(names, free_ports(len(names))))
        roster = []
        for name in names:
            roster += ["--agent", name if name in outbound else f"{name}@127.0.0.1:{self.ports[name]}"]
        self.done("federation", "new", "f.json", "--name", "test", *roster, *more)
        for name in names:
            self.done("agent", "key", "f.json", "--agent", name)
        self.done("federation", "sign", "f.json", *[f"{name}.csr" for name in names])
        self.agents = []

    def done(self, *arguments):
        result = self.hearsay(*arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def start(self, name, data, *more, file="f.json"):
        agent = Agent(self.folder, file, "--agent", name, "--data", data, "--threads", "1", "--json", f"{name}.result", *more)
        self.agents.append(agent)
        return agent

    def result(self, name):
        return json.loads((self.folder / f"{name}.result").read_text())

    def kill_all(self):
        for agent in self.agents:
            agent.process.kill()
            agent.process.communicate()


@pytest.fixture
def make_federation(hearsay, tmp_path):
    made = []

    def make(*arguments, **options):
        made.append(Federation(hearsay, tmp_path, *arguments, **options))
        return made[-1]

    yield make
    for federation in made:
        federation.kill_all()


def heart_of(name):
    return f"fed-heart-disease:{name}"


# ---- What comes out -------------------------------------------------------------------------------------------------


@needs_grpc
@pytest.mark.parametrize("settings", [
    ["--topology", "ring"],
    ["--topology", "complete", "--message-precision", "bfloat16", "--tolerance", "1e-7"],
    ["--topology", "path", "--algorithm", "deepca", "--no-center"],
])
def test_agents_find_the_bits_of_one_process(hearsay, make_federation, settings):
    federation = make_federation(more=["-k", "4", *settings])

    agents = [federation.start(name, heart_of(name), "--components", "{agent}.npy", "--report", f"{name}.html") for name in HOSPITALS]
    ends = [agent.end() for agent in agents]

    alone = hearsay.json("decentralized", "fed-heart-disease", "-k", "4", *settings, "--components", "alone.npy")
    assert [code for code, _, _ in ends] == [0] * 4, ends
    for number, name in enumerate(HOSPITALS):
        result = federation.result(name)
        assert result["digest"] == alone["digest"]
        assert alone["digest"] in (federation.folder / f"{name}.html").read_text()
        assert result["federation"]["confirmed"], result["federation"]["unconfirmed"]
        assert result["contributors"] == [0, 1, 2, 3] and result["federation"]["agent_name"] == name
        assert [agent["samples"] for agent in result["per_agent"]] == [agent["samples"] for agent in alone["per_agent"]]
        assert result["bytes"] == alone["bytes"] and result["agreement"] == alone["agreement"]
        assert result["federation"]["agent_digest"] == alone["per_agent"][number]["digest"]
    assert (federation.folder / "0.npy").read_bytes() == (federation.folder / "alone.npy").read_bytes()
    assert len({federation.result(name)["federation"]["run_id"] for name in HOSPITALS}) == 1


@needs_grpc
def test_columns_are_matched_by_the_names_of_the_file(hearsay, make_federation, tmp_path):
    names = ("a", "b", "c")
    federation = make_federation(names, ("c",), ["-k", "2", "--features", "u,v,w,x", "--topology", "ring"])
    rng = np.random.default_rng(5)
    for agent, order in zip(names, ("uvwx", "xwvu", "vuxw")):
        rows = rng.standard_normal((20, 4)) * [4, 2, 1, 0.5]
        columns = ["uvwx".index(letter) for letter in order]
        np.savetxt(tmp_path / f"{agent}.csv", rows[:, columns], delimiter=",", header=",".join(order), comments="", fmt="%.17g")
        np.savetxt(tmp_path / f"{agent}-sorted.csv", rows, delimiter=",", header="u,v,w,x", comments="", fmt="%.17g")

    for agent in [federation.start(name, f"{name}.csv") for name in names]:
        assert agent.end()[0] == 0

    alone = hearsay.json("decentralized", *[f"{name}-sorted.csv" for name in names], "-k", "2")
    assert {federation.result(name)["digest"] for name in names} == {alone["digest"]}


@needs_grpc
def test_the_example_ends_with_the_digest_of_one_process(tmp_path):
    result = subprocess.run([SOURCE / "examples/federation/run", BINARY, tmp_path], capture_output=True, text=True,
                            timeout=2 * PATIENCE_SECONDS)

    assert result.returncode == 0, result.stdout + result.stderr
    alone = result.stdout.split("== all in one process")[1].split("digest ")[1].split()[0]
    assert f'"digest": "{alone}"' in result.stdout


# ---- What goes wrong on the way -------------------------------------------------------------------------------------

START = ["--start", "8"]  # seconds: more than agents need to begin on a busy machine, under the sanitizers
ENDLESS = ["-k", "2", "--tolerance", "0", "--max-iterations", "100000000", "--link", "1", "--round", "10"]


@needs_grpc
def test_a_killed_agent_ends_the_others_with_a_word(make_federation):
    federation = make_federation(more=ENDLESS)
    agents = {name: federation.start(name, heart_of(name)) for name in HOSPITALS}
    for agent in agents.values():
        agent.wait_for("the run has begun")

    agents["va"].process.kill()

    assert agents.pop("va").end()[0] == -signal.SIGKILL
    for agent in agents.values():
        code, out, err = agent.end()
        assert code == 4 and out == "", err
        assert "agent 3 (va)" in err


LASTING = ["-k", "4", "--rounds", "60", "--link", "1", "--round", "10", "--on-crash", "exclude"]  # thousands of rounds


def make_tables(folder):
    """Rows of four hospitals whose gap at 4 is small enough for some seconds of gossip."""
    rng, tables = np.random.default_rng(8), {}
    for place, name in enumerate(HOSPITALS):
        rows = rng.standard_normal((80 + 20 * place, 12)) * [5, 4, 3, 2.2, *[2] * 8] + place
        tables[name] = rows @ np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))[0]
        np.savetxt(folder / f"{name}.csv", tables[name], delimiter=",", fmt="%.17g", header=",".join("abcdefghijkl"), comments="")
    return tables


@needs_grpc
def test_survivors_of_a_killed_agent_find_the_answer_of_their_own_rows(hearsay, make_federation, tmp_path):
    federation = make_federation(more=[*LASTING, "--topology", "ring"])
    tables = make_tables(tmp_path)
    agents = {name: federation.start(name, f"{name}.csv", "--components", f"{name}.npy") for name in HOSPITALS}
    agents["va"].wait_for("the run has begun")

    agents["va"].process.kill()

    assert agents.pop("va").end()[0] == -signal.SIGKILL
    for agent in agents.values():
        code, out, err = agent.end()
        assert code == 0, err
        assert "without agent 3 (va)" in out, out
    rows = np.vstack([tables[name] for name in agents])
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    truth = vectors[:, ::-1][:, :4]
    alone = hearsay.json("decentralized", *[f"{name}.csv" for name in agents], "-k", "4", "--topology", "path")
    results = [federation.result(name) for name in agents]
    assert len({result["digest"] for result in results}) == 1 and len({result["federation"]["run_id"] for result in results}) == 1
    for name, result in zip(agents, results):
        basis = np.load(federation.folder / f"{name}.npy")
        assert np.linalg.norm(basis - truth @ (truth.T @ basis), 2) <= 1e-8
        assert np.allclose(result["eigenvalues"], values[::-1][:4], rtol=1e-9)
        assert np.allclose(result["eigenvalues"], alone["eigenvalues"], rtol=1e-9)
        assert result["status"] == "converged" and result["federation"]["confirmed"]
        assert result["contributors"] == [0, 1, 2] and result["faults"]["crashes"] == 1
        assert [epoch["members"] for epoch in result["epochs"]] == [[0, 1, 2, 3], [0, 1, 2]]
        assert result["epochs"][1]["reason"] == "agent 3 is gone" and result["epochs"][1]["iteration"] >= 1


@needs_grpc
def test_too_few_survivors_stop_with_a_code_of_their_own(make_federation, tmp_path):
    federation = make_federation(more=[*LASTING, "--topology", "complete"])
    make_tables(tmp_path)
    agents = {name: federation.start(name, f"{name}.csv") for name in HOSPITALS}
    agents["va"].wait_for("the run has begun")

    for name in ("va", "hungarian"):
        agents[name].process.kill()

    for name in ("cleveland", "switzerland"):
        code, out, err = agents[name].end()
        assert code == 5 and out == "", err
        assert "must be 3 at least to go on" in err, err
        assert not (federation.folder / f"{name}.result").exists()


KEPT = ["-k", "4", "--rounds", "60", "--link", "1", "--round", "10", "--checkpoint-every", "4", "--topology", "ring"]


def kept(name, more=()):
    return [f"{name}.csv", "--checkpoint", f"{name}.states", "--resume", *more]


def wait_for_file(path, agent):
    while not path.exists():
        assert agent.process.poll() is None, agent.end()


def alone_digest(hearsay):
    return hearsay.json("decentralized", *[f"{name}.csv" for name in HOSPITALS], "-k", "4", "--rounds", "60", "--topology", "ring")["digest"]


@needs_grpc
def test_a_killed_agent_that_is_started_again_changes_no_bit(hearsay, make_federation, tmp_path):
    federation = make_federation(more=[*KEPT, "--on-crash", "wait:60"])
    make_tables(tmp_path)
    agents = {name: federation.start(name, *kept(name)) for name in HOSPITALS}
    wait_for_file(tmp_path / "va.states", agents["va"])

    agents["va"].process.kill()
    assert agents["va"].end()[0] == -signal.SIGKILL
    agents["va"] = federation.start("va", *kept("va"))

    ends = [agent.end() for agent in agents.values()]
    assert [code for code, _, _ in ends] == [0] * 4, ends
    results = [federation.result(name) for name in HOSPITALS]
    assert {result["digest"] for result in results} == {alone_digest(hearsay)}
    for result, (_, out, _) in zip(results, ends):
        assert result["federation"]["confirmed"] and result["contributors"] == [0, 1, 2, 3]
        assert result["federation"]["taken_up"] and result["federation"]["taken_up"][0] % 4 == 0
        assert "taken up     at iteration" in out, out
    assert "waiting 60 s at most for everyone to be there" in ends[0][2]


@needs_grpc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_agents_that_were_all_stopped_go_on_another_day(hearsay, make_federation, tmp_path, number):
    federation = make_federation(more=KEPT)
    make_tables(tmp_path)
    agents = {name: federation.start(name, *kept(name)) for name in HOSPITALS}
    for name, agent in agents.items():
        wait_for_file(tmp_path / f"{name}.states", agent)
    for agent in agents.values():
        agent.process.send_signal(number)
    codes = {agent.end()[0] for agent in agents.values()}
    assert codes == ({3} if number == signal.SIGINT else {-number})

    ends = [federation.start(name, *kept(name)).end for name in HOSPITALS]

    ends = [end() for end in ends]
    assert [code for code, _, _ in ends] == [0] * 4, ends
    for name in HOSPITALS:
        result = federation.result(name)
        assert result["digest"] == alone_digest(hearsay) and len(result["federation"]["taken_up"]) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.endswith((".tmp", ".states"))) == sorted(f"{name}.states" for name in HOSPITALS)


@needs_grpc
def test_states_of_another_run_or_damaged_ones_are_refused_before_anybody_is_called(make_federation, tmp_path):
    federation = make_federation(more=KEPT)
    make_tables(tmp_path)
    agents = [federation.start(name, *kept(name)) for name in HOSPITALS]
    assert [agent.end()[0] for agent in agents] == [0] * 4
    whole = (tmp_path / "va.states").read_bytes()

    def refusal(data="va.csv"):
        code, out, err = federation.start("va", data, "--checkpoint", "va.states", "--resume").end()
        assert code == 2 and out == ""
        return err

    assert "are of other data" in refusal("cleveland.csv")
    for damaged, word in [(whole[:-1], "checksum"), (whole[:100] + b"x" + whole[101:], "checksum"), (b"", "empty"), (b"hearsay checkpoint 5\n", "must begin with")]:
        (tmp_path / "va.states").write_bytes(damaged)
        assert word in refusal()
        assert (tmp_path / "va.states").read_bytes() == damaged


@needs_grpc
def test_the_fuzzers_states_are_of_the_version_that_is_written(make_federation, tmp_path):
    federation = make_federation(("va",), outbound=(), more=["-k", "2", "--checkpoint-every", "1"])
    assert federation.start("va", heart_of("va"), "--checkpoint", "c").end()[0] == 0
    first_line = (tmp_path / "c").read_bytes().split(b"\n", 1)[0]

    seeds = list((SOURCE / "fuzz" / "corpus" / "states").iterdir())

    # else they are refused at once, and the fuzzer sees nothing: fuzz/states_seeds.py makes new ones
    assert seeds and all(seed.read_bytes()[1:].startswith(first_line + b"\n") for seed in seeds)


@needs_grpc
def test_ctrl_c_at_one_agent_ends_the_run_everywhere_with_what_there_is(make_federation):
    federation = make_federation(more=ENDLESS)
    agents = [federation.start(name, heart_of(name)) for name in HOSPITALS]
    for agent in agents:
        agent.wait_for("the run has begun")

    agents[2].process.send_signal(signal.SIGINT)

    for agent in agents:
        code, _, err = agent.end()
        assert code == 3, err
    results = [federation.result(name) for name in HOSPITALS]
    assert {result["status"] for result in results} == {"stopped_by_observer"}
    assert len({result["digest"] for result in results}) == 1


@needs_grpc
def test_an_agent_that_never_comes_is_named_at_the_deadline(make_federation):
    federation = make_federation(more=["-k", "2", *START])

    agents = [federation.start(name, heart_of(name)) for name in HOSPITALS if name != "va"]

    for agent in agents:
        code, out, err = agent.end()
        assert code == 4 and out == "", err
        assert "agent 3 (va)" in err


@needs_grpc
def test_another_federation_file_is_refused_with_both_digests(make_federation, tmp_path):
    names = ("a", "b")
    federation = make_federation(names, (), ["-k", "2", "--topology", "path", *START])
    other = (tmp_path / "f.json").read_text().replace('"k": 2', '"k": 3')
    (tmp_path / "other.json").write_text(other)

    first, second = federation.start("a", heart_of("va")), federation.start("b", heart_of("cleveland"), file="other.json")

    digests = [federation.done("federation", "show", file).split("digest")[1].split()[0] for file in ("f.json", "other.json")]
    for agent in first, second:
        code, _, err = agent.end()
        assert code == 4, err
        assert all(digest in err for digest in digests)


@needs_grpc
def test_other_features_are_refused_at_both_ends(make_federation, tmp_path):
    names = ("a", "b")
    federation = make_federation(names, (), ["-k", "1", "--topology", "path"])
    (tmp_path / "a.csv").write_text("age,sex\n1,2\n3,5\n4,4\n")
    (tmp_path / "b.csv").write_text("age,height\n1,2\n3,5\n4,4\n")

    for agent in [federation.start(name, f"{name}.csv") for name in names]:
        code, _, err = agent.end()
        assert code in (2, 4), err
        assert "height" in err and "sex" in err


# ---- Who is turned away ---------------------------------------------------------------------------------------------


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def strangers(folder):
    """Certificates that are not to be accepted, by name."""
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9", "-subj", "/CN=va",
            "-addext", "subjectAltName=DNS:va", "-keyout", "self.key", "-out", "self.pem")
    openssl(folder, "x509", "-req", "-in", "va.csr", "-copy_extensions", "copy", "-CA", "self.pem", "-CAkey", "self.key",
            "-out", "foreign.pem")
    openssl(folder, "x509", "-req", "-in", "va.csr", "-copy_extensions", "copy", "-CA", "authority/authority.pem", "-CAkey",
            "authority/authority.key", "-days", "-1", "-out", "expired.pem")


def call(folder, port, certificate=None, key=None, version=ssl.TLSVersion.TLSv1_3, plain=False):
    """What an agent answers to the first bytes of HTTP/2; empty where it hangs up."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(folder / "authority.pem")
    context.set_alpn_protocols(["h2"])
    context.minimum_version = context.maximum_version = version
    if certificate:
        context.load_cert_chain(folder / certificate, folder / key)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as wire:
        try:
            with contextlib.nullcontext(wire) if plain else context.wrap_socket(wire) as line:
                line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
                return line.recv(9)
        except (ssl.SSLError, ConnectionError):
            return b""


@needs_grpc
def test_strangers_are_turned_away_and_the_run_goes_on(hearsay, make_federation, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, so no bad certificates can be made")
    federation = make_federation(more=["-k", "4", "--topology", "ring"])
    strangers(tmp_path)
    port = federation.ports["cleveland"]
    first = federation.start("cleveland", heart_of("cleveland"))
    first.wait_for("listens at")

    answers = {
        "a neighbour": call(tmp_path, port, "va.pem", "va.key"),
        "no certificate": call(tmp_path, port),
        "self-signed": call(tmp_path, port, "self.pem", "self.key"),
        "another authority": call(tmp_path, port, "foreign.pem", "va.key"),
        "expired": call(tmp_path, port, "expired.pem", "va.key"),
        "TLS 1.2": call(tmp_path, port, "va.pem", "va.key", version=ssl.TLSVersion.TLSv1_2),
        "plaintext": call(tmp_path, port, plain=True),
    }

    assert answers.pop("a neighbour")[3:4] == b"\x04"  # SETTINGS
    assert answers == {name: b"" for name in answers}
    others = [federation.start(name, heart_of(name)) for name in HOSPITALS[1:]]
    code, _, err = first.end()
    assert code == 0, err
    assert "turned away" in err and "certificate verify failed" in err and "peer did not return a certificate" in err
    assert "no shared cipher" in err
    assert all(agent.end()[0] == 0 for agent in others)
    alone = hearsay.json("decentralized", "fed-heart-disease", "-k", "4", "--topology", "ring")
    assert federation.result("cleveland")["digest"] == alone["digest"]


@needs_grpc
def test_a_neighbour_that_offers_less_than_tls_1_3_is_not_talked_to(hearsay, make_federation, tmp_path):
    federation = make_federation(("a", "b"), (), ["-k", "1", "--topology", "path"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(tmp_path / "b.pem", tmp_path / "b.key")
    context.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", federation.ports["b"])) as server:
        server.settimeout(PATIENCE_SECONDS)
        looking = subprocess.Popen([BINARY, "agent", "check", "f.json", "--agent", "a", "--wait", "2"], cwd=tmp_path, text=True,
                                   stdout=subprocess.PIPE)
        wire, _ = server.accept()
        with wire, pytest.raises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(wire, server_side=True)

    assert "PROBLEM  agent 1 (b): not seen" in looking.communicate(timeout=PATIENCE_SECONDS)[0]
    assert looking.returncode == 4


@needs_grpc
def test_a_member_on_anothers_edge_is_turned_away(make_federation):
    """Switzerland is no neighbour of Cleveland's; it has Hungarian's file of the roster and its own certificate."""
    federation = make_federation(more=["-k", "4", "--topology", "ring", *START])
    folder = federation.folder
    first = federation.start("cleveland", heart_of("cleveland"))
    first.wait_for("listens at")
    text = (folder / "f.json").read_text()
    (folder / "claims.json").write_text(text.replace('"DNS:va"', '"DNS:nobody"').replace('"DNS:switzerland"', '"DNS:va"')
                                        .replace('"DNS:nobody"', '"DNS:switzerland"'))

    # va, as far as its own file says, with switzerland's certificate
    claims = federation.start("va", heart_of("va"), "--certificate", "switzerland.pem", "--key", "switzerland.key",
                              file="claims.json")

    code, _, err = first.end()
    assert code == 4
    assert "who answers at" in err and "is DNS:switzerland, and agent 3 (va) must be DNS:va" in err, err
    assert claims.end()[0] == 4


# ---- Files and words ------------------------------------------------------------------------------------------------


def test_a_build_without_grpc_says_what_to_install(hearsay, make_federation, tmp_path):
    make_federation(("a", "b"), (), ["-k", "1", "--topology", "path"])
    alone = tmp_path / "bin" / "hearsay"
    alone.parent.mkdir()
    shutil.copy(shutil.which(BINARY) or BINARY, alone)
    for command in (["run", "f.json", "--agent", "a", "--data", heart_of("va")], ["check", "f.json", "--agent", "a"]):
        result = subprocess.run([alone, "agent", *command], cwd=tmp_path, capture_output=True, text=True)

        assert result.returncode == 2 and "libgrpc++-dev" in result.stderr, result.stderr


def test_keys_are_secret_and_never_overwritten(hearsay, make_federation, tmp_path):
    make_federation(("a", "b"), (), ["-k", "1", "--topology", "path"])
    before = (tmp_path / "a.key").read_text()

    assert os.stat(tmp_path / "a.key").st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "authority/authority.key").st_mode & 0o777 == 0o600
    hearsay.refuses("agent", "key", "f.json", "--agent", "a", saying="a.key: is there already")
    hearsay.refuses("federation", "new", "f.json", "--name", "x", "-k", "1", "--agent", "a", saying="is there already")
    hearsay.refuses("agent", "run", "f.json", "--agent", "a", "--data", heart_of("va"), "--json", "a.key", saying="would overwrite")
    assert (tmp_path / "a.key").read_text() == before
    assert hearsay("federation", "sign", "f.json", "a.csr").returncode == 0  # again: certificates are renewed so


@pytest.mark.parametrize("name", ["../b", "/tmp/b", "b/c", ".b", "-b", "authority"])
def test_names_that_are_not_names_of_files_are_refused(hearsay, tmp_path, name):
    """Keys and certificates are called so, and a federation file comes from somebody else."""
    (tmp_path / "f.json").write_text(json.dumps({"federation": "x", "k": 1, "agents": [{"name": "a"}, {"name": name}]}))

    hearsay.refuses("agent", "key", "f.json", "--agent", "1", saying=["agents[1].name", "no /", "authority"])
    hearsay.refuses("federation", "new", "g.json", "--name", "x", "-k", "1", "--agent", "a@h:1", f"--agent={name}", saying="name")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.json"]


def test_a_key_whose_request_cannot_be_written_does_not_stay(hearsay, make_federation, tmp_path):
    make_federation(("a", "b"), (), ["-k", "1", "--topology", "path"])
    (tmp_path / "a.key").unlink()
    (tmp_path / "a.csr").unlink()
    (tmp_path / "a.csr").mkdir()

    result = hearsay("agent", "key", "f.json", "--agent", "a")

    assert result.returncode in (1, 2) and "a.csr" in result.stderr, result.stderr
    assert not (tmp_path / "a.key").exists()


def test_only_members_are_signed(hearsay, make_federation, tmp_path):
    make_federation(("a", "b"), (), ["-k", "1", "--topology", "path"])
    text = (tmp_path / "f.json").read_text()
    (tmp_path / "g.json").write_text(text.replace('"DNS:b"', '"DNS:mallory"'))
    (tmp_path / "b.key").unlink()
    assert hearsay("agent", "key", "g.json", "--agent", "b").returncode == 0
    (tmp_path / "a.pem").unlink()

    hearsay.refuses("federation", "sign", "f.json", "a.csr", "b.csr", saying=["b.csr: asks for DNS:mallory", "one agent of f.json"])
    hearsay.refuses("federation", "sign", "f.json", "f.json", saying="must be a certificate request")

    assert not (tmp_path / "a.pem").exists()  # none is signed where one is refused


def test_a_check_names_all_problems_at_once(hearsay, make_federation, tmp_path):
    make_federation(("a", "b"), (), ["-k", "3", "--topology", "path"])
    os.chmod(tmp_path / "a.key", 0o644)
    shutil.copy(tmp_path / "b.pem", tmp_path / "a.pem")
    (tmp_path / "narrow.csv").write_text("x,y\n1,2\n3,4\n")

    result = hearsay("agent", "check", "f.json", "--agent", "a", "--data", "narrow.csv", "--wait", "0")

    assert result.returncode == 2 and result.stderr == ""
    for problem in ("is of DNS:b, and agent a must be DNS:a", "chmod 600", "is not the key of the certificate",
                    "has 2 features, and k = 3"):
        assert f"{problem}" in result.stdout
    assert result.stdout.count("PROBLEM") == 4


def test_a_bad_roster_is_refused_with_its_line(hearsay, tmp_path):
    (tmp_path / "f.json").write_text('{"federation": "x", "k": 1, "agents": [\n {"name": "a"},\n {"name": "b", "address": "here"}]}')

    hearsay.refuses("federation", "show", "f.json", saying="f.json:3: agents[1].address")
    (tmp_path / "f.json").write_text('{"federation": "x", "k": 1, "agents": [\n {"name": "a"},\n {"name": "b"}], "topology": "path"}')
    hearsay.refuses("federation", "plan", "f.json", saying="f.json:3: agent 1 (b) and agent 0 (a) (line 2)")
    (tmp_path / "f.json").write_text('{"federation": "x", "k": 1, "agents": [{"name": "a"}, {"name": "b"}, {"name": "c"}],\n"topology": [[0, 1]]}')
    hearsay.refuses("federation", "show", "f.json", saying="f.json:2: ")


def test_a_plan_counts_what_a_run_sends(hearsay, make_federation):
    settings = ["-k", "2", "--topology", "path", "--rounds", "3", "--tolerance", "0", "--max-iterations", "7", "--oversample", "1"]
    make_federation(more=[*settings, "--features", "13"])
    plan = json.loads(hearsay("federation", "plan", "f.json", "--latency", "50", "--bandwidth", "10", "--json", "-").stdout)

    run = hearsay.json("decentralized", "fed-heart-disease", *settings)

    assert {key: plan[key] for key in ("rounds", "messages", "bytes")} == {key: run[key] for key in ("rounds", "messages", "bytes")}
    assert 21 * 0.05 < plan["seconds"] < 3
