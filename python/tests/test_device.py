"""Solves on a device: that they say why there is none, fall back only where they are asked to, and refuse what means
nothing there. Where a device is, that they find what the processor finds."""

import numpy as np
import pytest

import hearsay


def planted(d=80):
    rng = np.random.default_rng(4)
    vectors = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (vectors / np.arange(1, d + 1)) @ vectors.T, vectors


def sin_theta(U, V):
    return np.linalg.norm(V - U @ (U.T @ V), 2)


def eigsh(**options):
    A, _ = planted()
    return hearsay.eigsh(A, 3, psd=True, **options)


DOORS = {
    "eigsh": lambda **options: eigsh(**options).info,
    "svds": lambda **options: hearsay.svds(planted()[0], 3, **options).info,
    "PCA": lambda **options: hearsay.PCA(3, **options).fit(planted()[0]).info_,
}


def has_device():
    try:
        eigsh(device="cuda")
    except hearsay.DeviceError:
        return False
    return True


@pytest.mark.parametrize("door", DOORS)
def test_a_device_that_is_not_there_is_an_error_of_its_own(door):
    with pytest.raises(hearsay.DeviceError, match=r"device = cuda:99: (this package was built without CUDA|there )"):
        DOORS[door](device="cuda:99")
    assert issubclass(hearsay.DeviceError, RuntimeError)


@pytest.mark.parametrize("door", DOORS)
def test_the_processor_does_instead_where_it_is_asked_to(door):
    info = DOORS[door](device="cuda:99,cpu", accuracy=1e-6)

    assert info.device == "cpu" and info.rungs == () and info.converged
    assert info.notes[0].startswith("computed by the processor: device = cuda:99")


@pytest.mark.parametrize("door", DOORS)
def test_a_device_finds_what_the_processor_finds_and_tells_of_its_rungs(door):
    if not has_device():
        pytest.skip("no CUDA device, or a package built without CUDA")
    info = DOORS[door](device="cuda", accuracy=1e-6)

    assert info.converged and info.device.startswith("cuda:0")
    assert info.rungs[0].products == "fp16" and info.rungs[-1].sin_theta <= 1e-6
    assert sum(rung.passes for rung in info.rungs) <= info.passes


def test_a_solve_here_has_no_rungs():
    info = eigsh().info

    assert info.device == "cpu" and info.rungs == ()


@pytest.mark.parametrize("word", ["fp16", "tf32"])
def test_words_of_a_device_are_refused_without_one(word):
    with pytest.raises(hearsay.InvalidArgument, match=f"precision = {word}: is for a device; give device as well"):
        eigsh(precision=word)


@pytest.mark.parametrize(
    ("options", "saying"),
    [
        ({"device": "gpu"}, "device = gpu: must be cpu, cuda or cuda:N"),
        ({"device": "cuda,cpu", "tol": 1e-3}, "tol = 0.001: says nothing on a device"),
        ({"device": "cuda", "precision": "fp8"}, "precision = fp8: must be fp16 or more"),
    ],
)
def test_what_means_nothing_is_refused_whether_a_device_is_there_or_not(options, saying):
    with pytest.raises(hearsay.InvalidArgument, match=saying):
        eigsh(**options)


def test_rows_that_pass_by_are_not_for_a_device():
    with pytest.raises(hearsay.InvalidArgument, match="device = cuda: must be cpu for partial_fit"):
        hearsay.PCA(2, device="cuda").partial_fit(planted()[0])


class OnDevice:
    """What a tensor on a device says of itself."""

    def __init__(self, shape=(8, 8), dtype="float32"):
        self.shape, self.dtype = shape, dtype

    def __dlpack_device__(self):
        return (2, 0)


def test_a_tensor_on_a_device_is_taken_there_or_it_is_said_why_not():
    if not hasattr(hearsay._core, "eigs_on_device"):
        with pytest.raises(hearsay.DeviceError, match="matrix on cuda:0: this package was built without CUDA"):
            hearsay.eigsh(OnDevice(), 2)
    with pytest.raises(hearsay.InvalidArgument, match="device = cuda:3: the matrix lies on cuda:0"):
        hearsay.eigsh(OnDevice(), 2, device="cuda:3")


def test_torchs_tensors_come_back_as_such():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from hearsay.torch import top_eigenvectors

    A, vectors = planted()
    for where in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        tensor = torch.as_tensor(A, device=where)
        cold = top_eigenvectors(tensor, 3, accuracy=1e-6)
        warm = top_eigenvectors(tensor, 3, accuracy=1e-6, start=cold.vectors)
        for found in (cold, warm):
            assert found.vectors.device.type == where and found.info.converged
            assert sin_theta(vectors[:, :3], found.vectors.cpu().numpy()) <= 1e-6


def test_what_is_no_tensor_is_refused():
    pytest.importorskip("torch", reason="torch is not installed")
    from hearsay.torch import top_eigenvectors

    with pytest.raises(hearsay.InvalidArgument, match=r"must be a torch\.Tensor"):
        top_eigenvectors(np.eye(3), 1)
