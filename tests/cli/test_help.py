import json
import shutil
import subprocess

import pytest

from conftest import SOURCE

COMMANDS = ["pca", "eigs", "svd", "cluster", "federation", "agent", "plan", "reproduce", "experiment", "datasets", "ledger", "info",
            "completion"]


def test_the_version_is_one_line(hearsay):
    result = hearsay("--version")

    assert result.returncode == 0 and result.stdout.count("\n") == 1 and result.stdout[0].isdigit()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(hearsay, command):
    result = hearsay(command, "--help")

    assert result.returncode == 0 and result.stderr == ""
    assert "Examples:" in result.stdout and f"hearsay {command}" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 120


def test_the_program_lists_its_commands_but_not_the_hidden_one(hearsay):
    text = hearsay("--help").stdout

    assert all(f"  {command} " in text for command in COMMANDS)
    assert "reference" not in text


@pytest.mark.parametrize("arguments, saying", [
    (["pac", "x"], ["pac", "did you mean pca?"]),
    ([], ["hearsay --help"]),
    (["pca"], ["DATA", "hearsay pca --help"]),
    (["--verson"], ["--verson", "did you mean --version?"]),
    (["datasets", "fech", "digits"], ["fech", "did you mean fetch?"]),
    (["datasets", "path", "digit"], ["digit", "digits"]),
    (["completion", "bsh"], ["bsh", "did you mean bash?"]),
])
def test_a_slip_of_the_keyboard_gets_an_answer_that_helps(hearsay, arguments, saying):
    hearsay.refuses(*arguments, saying=saying)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(hearsay, shell):
    script = hearsay("completion", shell).stdout

    dash = "-l " if shell == "fish" else "--"
    assert all(command in script for command in COMMANDS)
    assert all(dash + option in script for option in ["momentum", "no-center", "largest-component", "lambda-next", "to"])
    assert "gaussian:" in script and "symmetric" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed, so its script is not parsed")
    assert subprocess.run([shell, "-n"], input=script, text=True, capture_output=True).returncode == 0


@pytest.mark.parametrize("words, expected", [
    (["hearsay", "cl"], ["cluster"]),
    (["hearsay", "datasets", "fe"], ["fetch"]),
    (["hearsay", "pca", "--max"], ["--max-iterations"]),
    (["hearsay", "pca", "--method", ""], ["auto", "anpm", "npm", "krylov", "direct", "averaged"]),
    (["hearsay", "eigs", "m.npy", "--damping", "s"], ["symmetric"]),
    (["hearsay", "cluster", "--certify", ""], ["none", "residual", "full"]),
])
def test_bash_completes(hearsay, words, expected):
    script = hearsay("completion", "bash").stdout
    quoted = " ".join(f"'{word}'" for word in words)
    script += f"\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _hearsay; echo \"${{COMPREPLY[@]}}\"\n"

    result = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True)

    assert result.stdout.split() == expected, result.stderr


def test_info_names_the_build_and_the_machine(hearsay):
    text = hearsay("info").stdout
    facts = json.loads(hearsay("info", "--json").stdout)

    assert facts["version"] == hearsay("--version").stdout.strip()
    assert facts["kernels"] in text and facts["kernels"] in ("avx512", "avx2", "generic")
    assert facts["threads"] >= 1 and facts["memory_bytes"] > 0
    assert {"compiler", "build_type", "processor", "eigen", "data_directory", "workspace"} <= set(facts)


def test_the_reference_page_is_what_the_program_prints(hearsay):
    page = SOURCE / "docs" / "reference" / "options.md"

    assert hearsay("reference").stdout == page.read_text(), "renew it with: hearsay reference > docs/reference/options.md"


def test_the_json_page_lists_every_key_of_a_result(hearsay, tmp_path):
    (tmp_path / "data.csv").write_text("1,2\n3,5\n4,4\n")
    page = (SOURCE / "docs" / "reference" / "json.md").read_text()

    result = hearsay.json("pca", "data.csv", "-k", 1, "--audit", "0.1")

    certificate = result["certificate"]
    keys = [*result, *result["audit"], *certificate, *certificate["sin_theta"], *certificate["nothing_missed"]]
    assert [key for key in keys if f"`{key}`" not in page] == []
