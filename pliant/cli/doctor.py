"""``pliant doctor``: a mesh and its bad spots, or this machine and its speed."""

import json as js
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.mesh import MeshReport


def examine_mesh(path: Path, picture: Path | None, *, json: bool) -> int:
    """Print the report of a mesh; draw its bad spots if there are any; 1 when it would be refused."""
    from pliant.mesh import doctor

    report = doctor(path)
    drawn = None
    if any(len(f.elements) or len(f.vertices) for f in report.findings):
        drawn = picture or path.with_name(path.stem + "-doctor.png")
        _draw(path, report, drawn)
    if json:
        findings = [
            {**vars(f), "elements": f.elements.tolist(), "vertices": f.vertices.tolist()} for f in report.findings
        ]
        print(js.dumps({"refused": report.refused, "findings": findings, "picture": str(drawn) if drawn else None}))
    else:
        print(report)
        if drawn:
            print(f"problem areas: {drawn}")
    return int(report.refused)


def _draw(path: Path, report: "MeshReport", target: Path) -> None:
    """A picture of all vertices with the bad ones, and those of bad elements, marked."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    from pliant.mesh import read_raw

    raw = read_raw(path)
    X = np.asarray(raw.X, dtype=np.float64)
    X = X if X.shape[1] == 3 else np.column_stack([X, np.zeros(len(X))])
    figure = plt.figure(figsize=(7, 6))
    axes: Any = figure.add_subplot(projection="3d")
    sound = X[np.isfinite(X).all(axis=1)]
    shown = sound[:: max(1, len(sound) // 20000)]
    axes.scatter(shown[:, 0], shown[:, 1], shown[:, 2], s=1, c="0.7")
    for finding in report.findings:
        inside = [e for e in finding.elements if 0 <= e < len(raw.T)]
        corners = np.asarray(raw.T)[inside].ravel() if inside else np.zeros(0, dtype=np.int64)
        marked = np.unique(np.concatenate([corners, finding.vertices]))
        marked = marked[(marked >= 0) & (marked < len(X))].astype(np.int64)
        points = X[marked][np.isfinite(X[marked]).all(axis=1)]
        if len(points):
            colour = "red" if finding.severity == "error" else "orange"
            axes.scatter(points[:, 0], points[:, 1], points[:, 2], s=25, c=colour, label=finding.name)
    axes.legend(loc="upper right")
    axes.set_aspect("equal")
    figure.savefig(target, dpi=120)
    plt.close(figure)


def examine_machine(*, json: bool) -> None:
    """What this machine has and how fast it is at the three things that matter: elements, factors, files."""
    import numba

    from pliant.bench.table import machine
    from pliant.linear import LINEAR, Cholesky

    facts: dict[str, Any] = {**machine(), "kernel threads": numba.get_num_threads(), "GPU": _device_name()}
    speeds = _element_speed() | _device_speed()
    for solver in LINEAR:
        if isinstance(solver, Cholesky):
            speeds[f"factor 3000 dofs, {solver.backend} [ms]"] = _factor_speed(solver)
    speeds |= _thread_speed()
    speeds["write and sync 1 MB [ms]"] = _disk_speed()
    if json:
        print(js.dumps({"machine": facts, "speed": speeds}))
        return
    for name, value in facts.items():
        print(f"{name:36} {value}")
    for name, number in speeds.items():
        print(f"{name:36} {number:.3g}")


def _element_speed() -> dict[str, float]:
    from pliant.energies.elastic import Elastic
    from pliant.materials import StableNeoHookean
    from pliant.mesh import bar

    mesh = bar(cells=(22, 7, 7))
    energy = Elastic(mesh.X, mesh.T, StableNeoHookean(1e5, 0.45))
    x = 1.01 * mesh.X.ravel()
    per_tet = 1e9 / len(mesh.T)
    return {
        "elastic gradient [ns/tet]": per_tet * _fastest(lambda: energy.gradient(x)),
        "elastic Hessian [ns/tet]": per_tet * _fastest(lambda: energy.hessian(x, psd=True)),
    }


def _device_name() -> str:
    """What the GPU is called, or why none can be used."""
    from pliant.cuda.device import name
    from pliant.errors import MissingDependency

    try:
        return name()
    except MissingDependency as reason:
        return f"none ({reason})"


def _device_speed() -> dict[str, float]:
    """Elements on the GPU; nothing where there is none."""
    from pliant.bodies import Solid
    from pliant.cuda.device import arrays, synchronized, to_device
    from pliant.cuda.system import on_device
    from pliant.errors import MissingDependency
    from pliant.materials import StableNeoHookean
    from pliant.mesh import bar
    from pliant.scene import Scene

    try:
        arrays()
    except MissingDependency:
        return {}
    mesh = bar(cells=(66, 21, 21))
    system = on_device(Scene([Solid(mesh, StableNeoHookean(1e5, 0.45))]).system())
    x = to_device(1.01 * mesh.X.ravel())

    def timed(call: Callable[[], Any]) -> float:
        def waited() -> None:
            call()
            synchronized()

        return 1e9 / len(mesh.T) * _fastest(waited)

    energy = system.energy_terms[0]
    return {
        "GPU elastic gradient [ns/tet]": timed(lambda: energy.gradient(x)),
        "GPU matrix of a step [ns/tet]": timed(lambda: system.tangent(x, 0.0 * x, 0.0, (1.0, 0.0, 1e-4))),
    }


def _factor_speed(solver: Any) -> float:
    import scipy.sparse as sp

    n = 15
    line = sp.diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(n, n))
    eye = sp.identity(n)
    grid = sp.kron(sp.kron(line, eye), eye) + sp.kron(sp.kron(eye, line), eye) + sp.kron(sp.kron(eye, eye), line)
    A = sp.csr_matrix(grid)
    A.sort_indices()
    memory = solver.factor(A).memory
    return 1e3 * _fastest(lambda: solver.factor(A, memory))


def _thread_speed() -> dict[str, float]:
    """How many times faster all threads are than one, by the clock on the wall; little where others use the machine."""
    import numba
    import scipy.sparse as sp

    from pliant.energies.elastic import Elastic
    from pliant.linear import Cholesky
    from pliant.materials import StableNeoHookean
    from pliant.mesh import bar

    mesh = bar(cells=(27, 9, 9))
    energy = Elastic(mesh.X, mesh.T, StableNeoHookean(1e5, 0.45))
    x = 1.01 * mesh.X.ravel()
    A = sp.csr_matrix(energy.hessian(x, psd=True) + sp.eye_array(x.size))
    A.sort_indices()
    memory, most = Cholesky().factor(A).memory, numba.get_num_threads()
    works: dict[str, Callable[[], Any]] = {
        "elastic Hessian": lambda: energy.hessian(x, psd=True),
        "factor": lambda: Cholesky().factor(A, memory),
    }
    out = {}
    for name, work in works.items():
        times = []
        for threads in (1, most):
            numba.set_num_threads(threads)
            times.append(_fastest(work))
        out[f"{name}, {most} threads over one"] = times[0] / times[1]
    return out


def _disk_speed() -> float:
    block = os.urandom(1 << 20)

    def write() -> None:
        with tempfile.TemporaryFile(dir=".") as file:
            file.write(block)
            file.flush()
            os.fsync(file.fileno())

    return 1e3 * _fastest(write)


def _fastest(call: Callable[[], Any], repeats: int = 5) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)
