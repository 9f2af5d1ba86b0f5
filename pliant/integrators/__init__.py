"""Time integrators: each a frozen dataclass with a declared order; mix freely with the nonlinear solvers."""

from pliant.integrators.adaptive import Adaptive
from pliant.integrators.adaptive_conjac import AdaptiveConJac
from pliant.integrators.additive import Additive
from pliant.integrators.bdf1 import BDF1
from pliant.integrators.bdf2 import BDF2
from pliant.integrators.conjac import ConJac
from pliant.integrators.corotated import Corotated
from pliant.integrators.dgsi import DGSI
from pliant.integrators.energy_momentum import EnergyMomentum
from pliant.integrators.ere import ERE
from pliant.integrators.explicit import ExplicitEuler, SymplecticEuler, Verlet
from pliant.integrators.exprb32 import EXPRB32
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.integrators.midpoint import ImplicitMidpoint
from pliant.integrators.mssi import MSSI
from pliant.integrators.quasistatic import Quasistatic
from pliant.integrators.rk4 import RK4
from pliant.integrators.sdirk2 import SDIRK2
from pliant.integrators.siere import SIERE
from pliant.integrators.trbdf2 import TRBDF2
from pliant.integrators.xpbd import XPBD

IMPLICIT = (BDF1, BDF2, SDIRK2, TRBDF2, ImplicitMidpoint, Quasistatic)  # these take a nonlinear solver
INTEGRATORS = (
    *IMPLICIT,
    LinearlyImplicit,
    RK4,
    SymplecticEuler,
    Verlet,
    ExplicitEuler,
    ERE,
    EXPRB32,
    SIERE,
    Corotated,
    EnergyMomentum,
    Additive,
    MSSI,
    DGSI,
    XPBD,
)

# Reduced models: with fewer unknowns they converge to their own motion, not to that of the full mesh, as h -> 0.
REDUCED = (ConJac, AdaptiveConJac)

# Around another integrator; its own order and systems are those of that.
WRAPPERS = (Adaptive,)

__all__ = [i.__name__ for i in (*INTEGRATORS, *REDUCED, *WRAPPERS)]
__all__ += ["IMPLICIT", "INTEGRATORS", "REDUCED", "WRAPPERS"]
