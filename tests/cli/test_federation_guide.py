"""docs/guide/federation.md, followed word for word: a network namespace for each organisation, with names of their own."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SOURCE

PROGRAM = pathlib.Path(shutil.which(BINARY) or BINARY).resolve()
SITES = {"cleveland": "10.77.0.1", "budapest": "10.77.0.2", "zurich": "10.77.0.3"}


def ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True)


class Site:
    """A machine, as far as the network is concerned, and a folder."""

    def __init__(self, name, folder, hub):
        self.name, self.space, self.folder = name, f"hearsay-{os.getpid()}-{name}", folder / name
        self.folder.mkdir()
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{to} {name}.example\n" for name, to in SITES.items()))
        wire = f"h{os.getpid()}{name[0]}"
        for command in (["netns", "add", self.space], ["link", "add", wire, "netns", self.space, "type", "veth", "peer", "name", wire, "netns", hub],
                        ["-n", hub, "link", "set", wire, "master", "bridge", "up"],
                        ["-n", self.space, "addr", "add", f"{SITES[name]}/24", "dev", wire],
                        ["-n", self.space, "link", "set", wire, "up"], ["-n", self.space, "link", "set", "lo", "up"]):
            result = ip(*command)
            assert result.returncode == 0, (command, result.stderr)

    def start(self, command):
        words = shlex.split(command)
        inside = 'mount --bind hosts /etc/hosts && exec "$@"'
        return subprocess.Popen(["ip", "netns", "exec", self.space, "unshare", "-m", "sh", "-c", inside, "sh", str(PROGRAM), *words[1:]],
                                cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def does(self, command):
        return ended(self.start(command))


def ended(process):
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, (process.args, out, err)
    return out


def lines_of_the_guide():
    text = (SOURCE / "docs/guide/federation.md").read_text().replace("\\\n", " ")
    return re.findall(r"^    (hearsay .*)$", text, re.MULTILINE)


@pytest.fixture
def sites(tmp_path):
    if not PROGRAM.with_name("hearsay-agent").exists():
        pytest.skip("hearsay-agent was not built: it needs libgrpc++-dev")
    hub = f"hearsay-{os.getpid()}-hub"
    if os.geteuid() != 0 or shutil.which("ip") is None or ip("netns", "add", hub).returncode != 0:
        pytest.skip("network namespaces need root and iproute2")
    made = {}
    try:
        assert ip("-n", hub, "link", "add", "bridge", "up", "type", "bridge").returncode == 0
        for name in SITES:
            made[name] = Site(name, tmp_path, hub)
        yield made
    finally:
        for space in [hub, *(site.space for site in made.values())]:
            ip("netns", "del", space)


def mail(what, sender, receiver):
    if sender is not receiver:
        shutil.copy(sender.folder / what, receiver.folder / what)


def test_the_guide_leads_to_the_result_of_one_process(hearsay, sites, tmp_path):
    new, show, plan, key, sign, check, run, run_kept = lines_of_the_guide()
    cleveland = sites["cleveland"]
    rng = np.random.default_rng(3)
    for site in sites.values():
        np.savetxt(site.folder / "patients.csv", rng.standard_normal((30, 13)) * np.arange(14, 1, -1), delimiter=",",
                   header=",".join(f"x{i}" for i in range(13)), comments="", fmt="%.17g")

    # what the guide says of budapest is meant for each of them
    cleveland.does(new)
    for site in sites.values():
        mail("heart.json", cleveland, site)
    assert len({site.does(show) for site in sites.values()}) == 1
    assert "minutes" in cleveland.does(plan)
    for name, site in sites.items():
        site.does(key.replace("budapest", name))
        mail(f"{name}.csr", site, cleveland)
    cleveland.does(sign)
    for name, site in sites.items():
        mail(f"{name}.pem", cleveland, site)
        mail("authority.pem", cleveland, site)
    for looking in [site.start(check.replace("budapest", name)) for name, site in sites.items()]:
        assert "PROBLEM" not in ended(looking)
    for running in [site.start(run.replace("budapest", name)) for name, site in sites.items()]:
        ended(running)

    basis = np.load(cleveland.folder / "basis.npy")
    results = [json.loads((site.folder / "result.json").read_text()) for site in sites.values()]
    alone = hearsay.json("decentralized", *[site.folder / "patients.csv" for site in sites.values()], "-k", "4")
    assert {result["digest"] for result in results} == {alone["digest"]}
    assert all((site.folder / "basis.npy").exists() and (site.folder / "result.html").exists() for site in sites.values())

    for running in [site.start(run_kept.replace("budapest", name)) for name, site in sites.items()]:
        ended(running)
    assert np.array_equal(np.load(cleveland.folder / "basis.npy"), basis)
