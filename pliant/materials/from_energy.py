"""A material from its energy density alone: psi as a formula; stress and Hessian are derived, projected and compiled.

The formula is in one of three sets of variables, each with an eigensystem in closed form (see `pliant.kernels.derived`
and `pliant.kernels.fibre`), so that no 9x9 matrix is decomposed:

    I1, I2, J     invariants of C = F^T F: tr C, ((tr C)^2 - tr C^2)/2, and J = det F
    s0, s1, s2    principal stretches, in a symmetric function; s2 has the sign of det F
    I4            |F a|^2 of a fibre ``direction`` a; to be added to a body material

All other names are parameters. A psi in which fibres and invariants multiply each other is not one of these.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pliant.arrays import Array
from pliant.errors import MaterialError
from pliant.expressions import FUNCTIONS, Formula, parse
from pliant.kernels.derived import invariants, stretches
from pliant.kernels.device import PARAMETERS, device
from pliant.kernels.fibre import fibre
from pliant.kernels.specialise import Density
from pliant.materials import base
from pliant.units import in_any_unit

REST = {"I1": 3.0, "I2": 3.0, "J": 1.0, "s0": 1.0, "s1": 1.0, "s2": 1.0, "I4": 1.0}
SETS = (("I1", "I2", "J"), ("s0", "s1", "s2"), ("I4",))
FIBRE_ROWS = (0, 1, 2, 6, 7)  # of the device parameters; the direction is in the others
COLLAPSED = ((1.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, -1.0), (1.0, 0.5, -1e-9))  # stretches
SMALL = 1e-9  # of the moduli: a stress that counts as none


@dataclass(frozen=True, eq=False)
class FromEnergy:
    """psi [J/m^3] as a ``formula`` in I1, I2, J, or in s0, s1, s2, or in I4, and its ``parameters`` by name.

    Parameters are numbers in SI, one per element (m,), or strings with a unit; fibres (I4) have a ``direction``. The
    energy of the body at rest is subtracted.
    """

    formula: str = "mu/2*(I1 - 3 - 2*log(J))"
    parameters: Mapping[str, base.Parameter] = field(default_factory=lambda: {"mu": 5e4})
    direction: base.Direction | None = None

    rotation_invariant: ClassVar[bool] = True
    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping) or not all(isinstance(name, str) for name in self.parameters):
            what, remedy = f"parameters are {self.parameters!r}", 'give values by name, such as {"mu": 5e4}'
            raise MaterialError(what, where="FromEnergy.parameters", remedy=remedy)
        given = {name: in_any_unit(value, name) for name, value in self.parameters.items()}
        values = {name: base.parameter(value, name, "SI units") for name, value in given.items()}
        base.set_fields(self, parameters=values)
        sizes = {len(v) for v in values.values() if np.ndim(v)}
        if len(sizes) > 1:
            raise MaterialError(f"per-element parameters of different lengths: {sizes}", where="FromEnergy")
        if (self.law.variables == ("I4",)) != (self.direction is not None):
            remedy = "a formula in I4 needs the direction of its fibres, others have none"
            raise MaterialError(f"direction is {self.direction!r:.40}", where="FromEnergy.direction", remedy=remedy)
        if self.direction is not None:
            base.set_fields(self, direction=base.direction(self.direction))
        self._check_rest()

    @property
    def law(self) -> "Ready":
        return _law(self.formula, tuple(self.parameters))

    @cached_property
    def allows_inversion(self) -> bool:
        """Whether psi and its derivatives are finite for flat and inverted elements: found out by evaluating them."""
        if self.direction is not None:
            return True  # fibres do not see det F
        one = {name: np.ravel(value)[0] for name, value in self.parameters.items()}
        with np.errstate(all="ignore"):
            found = [self.law.evaluate(_variables(self.law.variables, s), one) for s in COLLAPSED]
        return bool(np.isfinite(np.array(found, dtype=np.float64)).all())

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        columns = list(self.parameters.values())
        if self.direction is None:
            return ((self.law.density(self.allows_inversion), base.rows(*columns or [0.0])),)
        table: list[Any] = [0.0] * PARAMETERS
        table[3:6] = base.components(self.direction)
        for row, column in zip(FIBRE_ROWS, columns):
            table[row] = column
        return ((self.law.density(True), base.rows(*table)),)

    def young(self) -> base.Parameter:
        """Young's modulus [Pa] of small strains; along the fibre where there is one."""
        if self.direction is not None:
            _, first, second = self.law.evaluate([1.0], self.parameters)
            return base.parameter(2 * first + 4 * second, "E", "Pa")
        mu, lam = self._lame()
        return base.parameter(mu * (3 * lam + 2 * mu) / (lam + mu), "E", "Pa")

    def plane_stress(self) -> "FromEnergy":
        """The same with E and nu exchanged for those of plane stress, where these are its parameters."""
        if self.direction is not None:
            return self
        if not {"E", "nu"} <= set(self.parameters):
            remedy = "write it in E and nu, or use it in solids"
            raise MaterialError("plane stress is known of parameters E and nu only", where="FromEnergy", remedy=remedy)
        E, nu = self.parameters["E"], self.parameters["nu"]
        thin = {"E": E * (1 + 2 * nu) / (1 + nu) ** 2, "nu": nu / (1 + nu)}
        return replace(self, parameters={**self.parameters, **thin})

    def in_axes(self, axes: Array) -> "FromEnergy":
        return self if self.direction is None else base.turned(self, axes)

    def _lame(self) -> tuple[Any, Any]:
        """Lame's parameters (mu, lam) [Pa] of small strains, from the second derivatives by the stretches at rest."""
        _, *found = self.law.evaluate([REST[name] for name in self.law.variables], self.parameters)
        if self.law.variables == SETS[1]:
            return 0.5 * (found[3] - found[4]), found[4]
        d1, d2, dJ, *h = found
        product = (
            4 * (h[0] + 4 * h[1] + 4 * h[3] + h[2]) + 8 * h[4] + h[5]
        )  # u^T h u, u = (2, 4, 1) the slopes at s = 1
        diagonal, beside = product + 2 * d1 + 4 * d2, product + 4 * d2 + dJ
        return 0.5 * (diagonal - beside), beside

    def _check_rest(self) -> None:
        """Refuse a body that is not at rest when it is undeformed, or that is not stable there."""
        if self.direction is not None:
            return
        mu, lam = self._lame()
        _, *slopes = self.law.evaluate([REST[name] for name in self.law.variables], self.parameters)[:4]
        weights = (2, 4, 1) if self.law.variables == SETS[0] else (1, 0, 0)
        stress = sum(weight * slope for weight, slope in zip(weights, slopes, strict=True))
        stiff = np.abs(mu) + np.abs(lam)
        if not (np.isfinite(stress) & (np.abs(stress) <= SMALL * stiff)).all():
            what = f"the undeformed body has a stress of {np.ravel(stress)[0]:.3g} Pa"
            remedy = "dpsi/dF must vanish at F = I: mu/2*(I1 - 3) wants - mu*log(J), say"
            raise MaterialError(what, where="FromEnergy.formula", remedy=remedy)
        if not ((mu > 0.0) & (3 * lam + 2 * mu > -SMALL * stiff)).all():
            what = f"at rest its shear modulus is {np.ravel(mu)[0]:.3g} Pa, its bulk modulus"
            what += f" {np.ravel(lam + 2 * mu / 3)[0]:.3g} Pa"
            raise MaterialError(what, where="FromEnergy.formula", remedy="both must be positive: look at the signs")


class Ready(NamedTuple):
    """A formula made ready: its variables, the code of psi and its derivatives, and the names of its parameters."""

    variables: tuple[str, ...]
    parameters: tuple[str, ...]
    formula: Formula

    def evaluate(self, at: Any, parameters: Mapping[str, Any]) -> Any:
        """psi, its first and its second derivatives at values of the variables, by NumPy."""
        whole = [self.formula.root, *self.formula.slopes(self.variables), *self.formula.curvatures(self.variables)]
        code = self.formula.source("f", [*self.variables, *self.parameters], {}, whole)
        numpy = {name: getattr(np, name) for name in FUNCTIONS if name != "atan"} | {"atan": np.arctan}
        numpy |= {"max": np.maximum, "min": np.minimum, "choose": lambda a, b, x, y: np.where(a >= b, x, y)}
        return _defined(code, numpy)(*map(np.float64, at), *(parameters[name] for name in self.parameters))

    def density(self, invertible: bool) -> Density:
        return _density(self, invertible)


def _variables(names: tuple[str, ...], s: tuple[float, float, float]) -> list[float]:
    a, b, c = (x * x for x in s)
    known = {"I1": a + b + c, "I2": a * b + b * c + a * c, "J": s[0] * s[1] * s[2], "s0": s[0], "s1": s[1], "s2": s[2]}
    return [known[name] for name in names]


@cache
def _law(text: str, parameters: tuple[str, ...]) -> Ready:
    where = "FromEnergy.formula"
    for name in parameters:
        if name in REST or not name.isidentifier() or name in (*FUNCTIONS, "min", "max", "pi"):
            raise MaterialError(f"{name!r} cannot be a parameter", where=where, remedy="give it another name")
    formula = parse(text, (*REST, *parameters), where)
    variables = [names for names in SETS if formula.used & set(names)]
    if len(variables) != 1:
        what = f"it is in {', '.join(sorted(formula.used & set(REST))) or 'no variable'}"
        remedy = "use I1, I2, J, or s0, s1, s2, or I4; add materials to have several"
        raise MaterialError(what, where=where, remedy=remedy)
    unused = sorted(set(parameters) - formula.used)
    if unused:
        raise MaterialError(f"{unused[0]!r} is not in the formula", where=where, remedy="leave it out")
    most = len(FIBRE_ROWS) if variables[0] == ("I4",) else PARAMETERS
    if len(parameters) > most:
        raise MaterialError(f"{len(parameters)} parameters", where=where, remedy=f"use at most {most}")
    rest = parse(text, (*REST, *parameters), where, formula.graph, REST)
    return Ready(variables[0], parameters, Formula(formula.graph, formula.graph.call("-", formula.root, rest.root)))


@cache
def _density(law: Ready, invertible: bool) -> Density:
    """The compiled density; its name has letters that change with the code."""
    variables, parameters, formula = law
    value, first, second = [formula.root], formula.slopes(variables), formula.curvatures(variables)
    fibres = variables == ("I4",)
    arguments = [*variables, "sign", "p"] if fibres else [*variables, "p"]
    rows = FIBRE_ROWS if fibres else range(PARAMETERS)
    unpack = {name: f"p[{row}]" for name, row in zip(parameters, rows)}
    wanted = (
        {"law": [*value, *first, *second]} if fibres else {"value": value, "first": first, "second": first + second}
    )
    codes = {name: formula.source(name, arguments, unpack, outputs) for name, outputs in wanted.items()}
    letters = hashlib.sha256("".join(codes.values()).encode()).hexdigest()[:12]
    compiled = {name: getattr(math, name) for name in FUNCTIONS} | {"choose": choose}
    made = [device(_defined(code, compiled, f"{name}-{letters}")) for name, code in codes.items()]
    if fibres:
        return Density(f"FromEnergy-{letters}", __file__, fibre(made[0]))
    family: Any = invariants if variables == SETS[0] else stretches
    kind = "everywhere" if invertible else "upright"
    return Density(f"FromEnergy-{kind}-{letters}", __file__, family(*made, invertible))


@device
def choose(a: float, b: float, x: float, y: float) -> float:
    return x if a >= b else y


def _defined(code: str, names: Mapping[str, Any], qualified: str | None = None) -> Any:
    """The function that a code of ours defines. The code is straight lines made of a checked formula."""
    space: dict[str, Any] = {**names, "__name__": __name__}
    exec(code, space)
    function = next(value for name, value in space.items() if name not in names and callable(value))
    function.__qualname__ = qualified or function.__name__
    return function
