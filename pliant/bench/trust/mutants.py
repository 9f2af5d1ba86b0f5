"""The wrong programs of `trust/mutation`: one sign or constant each, and the tests that must notice it.

Every line: area; file within the package; what stands there, once; what is put there; test file; -k.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    area: str
    file: str
    old: str
    new: str
    tests: str
    only: str = ""


METHODS = "integrators/test_closed_forms.py"
PARTS = "conformance/test_parts.py"
PHYSICS = "integrators/test_integrator_physics.py"
TERMS = "contact/test_contact_terms.py"
LEDGER = "runs/test_ledger.py"
EOL = "cloth/test_eol_inertia.py"
FIT = "coarsen/test_eigenfit.py"
BENDING = "energies/test_cloth_energies.py"
JOINTS = "articulated/test_joints.py"
COMPILED = "articulated/test_compiled.py"
REMESH = "cloth/test_eol_remesh.py"
LAWS = "conformance/test_materials.py"
RATIONAL = "exponential/test_rational_ere.py"
ADAPTIVE = "integrators/test_adaptive.py"
LOADS = "forces/test_loads.py"
IDENTIFIED = "adjoint/test_fit.py"
MUTANTS = (
    Mutant("integrators", "integrators/bdf1.py", "target = q + h * v", "target = q - h * v", METHODS),
    Mutant("integrators", "integrators/bdf2.py", "return (1.0 + r) / (1.0 + 2.0 * r) * h,", "return 0.6 * h,",
           METHODS),
    Mutant("integrators", "integrators/bdf2.py", "(1.0 + r) ** 2 * new - r", "(1.0 + r) ** 2 * new + r",
           METHODS),
    Mutant("integrators", "integrators/sdirk2.py", "1.0 - 1.0 / sqrt(2.0)", "1.0 - 1.0 / sqrt(3.0)", METHODS),
    Mutant("integrators", "integrators/sdirk2.py", "(2.0 - 2.0 * ALPHA) * h", "(2.0 - ALPHA) * h", METHODS),
    Mutant("integrators", "integrators/trbdf2.py", "(2.0 - GAMMA))", "(1.9 - GAMMA))", METHODS),
    Mutant("integrators", "integrators/trbdf2.py", "+ c * c * a", "- c * c * a", METHODS),
    Mutant("integrators", "integrators/midpoint.py", "2.0 * stage.velocity", "1.9 * stage.velocity", METHODS),
    Mutant("integrators", "integrators/rk4.py", "h / 6.0 * (v1", "h / 6.1 * (v1", METHODS),
    Mutant("integrators", "integrators/explicit.py", "v + 0.5 * dt * (a + new)", "v + 0.4 * dt * (a + new)", METHODS),
    Mutant("integrators", "systems/free_step.py", "(1.0, h, how.beta * h * h)", "(1.0, h, 0.5 * how.beta * h * h)",
           METHODS),
    Mutant("integrators", "systems/free_step.py", "rhs = h * system.force", "rhs = -h * system.force", METHODS),
    Mutant("integrators", "integrators/xpbd/step.py", "h * model.inverse_mass", "2 * h * model.inverse_mass", METHODS),
    Mutant("solvers", "solvers/base.py", "PULLS = 1e3", "PULLS = 1e12", METHODS),
    Mutant("solvers", "solvers/line_search.py", "t *= 0.5", "t *= 2.0", "solvers/test_line_search.py"),
    Mutant("solvers", "solvers/line_search.py", "rise <= self.armijo * trial.t", "rise <= -self.armijo * trial.t",
           "solvers/test_line_search.py"),
    Mutant("solvers", "solvers/pairs.py", "(alpha - rho * float(y @ z))", "(alpha + rho * float(y @ z))",
           "conformance/test_solvers.py", "two_loop"),
    Mutant("solvers", "stage.py", "r = -(self.c**2) * self", "r = (self.c**2) * self", METHODS),
    Mutant("solvers", "stage.py", "weights = (self.inertia, self.inertia * c, c * c)",
           "weights = (self.inertia, self.inertia * c, 1.1 * c * c)", "conformance/test_linearization.py"),
    Mutant("solvers", "linear/lowrank.py", "y - self._X @", "y + self._X @", "linear/test_lowrank.py"),
    Mutant("solvers", "linear/lowrank.py", "np.eye(s) + A.c", "np.eye(s) - A.c", "linear/test_lowrank.py"),
    Mutant("solvers", "linear/pcg.py", "r -= alpha * Ap", "r -= 0.9 * alpha * Ap", "linear/test_pcg.py"),
    Mutant("solvers", "linear/krylov.py", "H[j + 1, j] = after", "H[j + 1, j] = -after",
           "exponential/test_krylov_expv.py"),
    Mutant("energies", "materials/base.py", "E / (2 * (1 + nu)), E", "E / (2 * (1 - nu)), E", LAWS, "StVK"),
    Mutant("energies", "materials/base.py", "(1 - 2 * nu))", "(1 - nu))", LAWS, "StVK"),
    Mutant("energies", "energies/gravity.py", "def gradient(self, x: Array) -> Array:\n        return -self.load",
           "def gradient(self, x: Array) -> Array:\n        return self.load", PARTS, "energ"),
    Mutant("energies", "energies/attachment.py", "0.5 * float(self._k", "1.0 * float(self._k", PARTS, "energ"),
    Mutant("energies", "energies/bending.py", "1.5 * beta / area", "1.0 * beta / area", BENDING),
    Mutant("energies", "energies/bending.py", "0.5 * twice", "0.25 * twice", BENDING),
    Mutant("energies", "mesh/mass.py", "density) / k, k)", "density) / (k + 1), k)", "mesh/test_mesh_mass.py"),
    Mutant("energies", "mesh/mass.py", "(k * (k + 1))", "(k * k)", "mesh/test_mesh_mass.py"),
    Mutant("energies", "systems/elastodynamics.py", '{"kinetic": 0.5 * float', '{"kinetic": 0.4 * float', LEDGER),
    Mutant("energies", "forces/rayleigh.py", "data[slots] -= self._beta", "data[slots] += self._beta",
           "forces/test_rayleigh.py"),
    Mutant("energies", "forces/rayleigh.py", "data[self._mass_slots] -=", "data[self._mass_slots] +=",
           "forces/test_rayleigh.py"),
    Mutant("energies", "forces/green.py", "K = -(self._mu", "K = (self._mu", "forces/test_green_damping.py"),
    Mutant("contact", "contact/laws.py", "y = minimum(s / reach, 1.0)", "y = minimum(0.5 * s / reach, 1.0)",
           "forces/test_friction_law.py"),
    Mutant("contact", "contact/laws.py", "y * y * y / 3.0", "y * y * y / 2.0", "forces/test_friction_law.py"),
    Mutant("contact", "forces/friction.py", "np.eye(2) + (rate - slope)", "np.eye(2) - (rate - slope)", TERMS),
    Mutant("contact", "contact/laws.py", "f = -k * speed", "f = k * speed", TERMS),
    Mutant("contact", "energies/penalty.py", "B = B - pushed", "B = B + pushed", TERMS),
    Mutant("contact", "energies/barrier.py", "contacts, -self._kappa * factor", "contacts, self._kappa * factor",
           "contact/test_acted.py"),
    Mutant("contact", "energies/barrier.py", 'float("inf") if safe >= 1.0 else CAUTION * safe', 'float("inf")',
           "contact/test_exact_sides.py"),
    Mutant("contact", "contact/pairs.py", "< 0.0, -1.0, 1.0)", "< 0.0, 1.0, -1.0)", "contact/test_detection.py"),
    Mutant("contact", "contact/intersect.py", "if s * t > 0 or", "if s * t < 0 or", "contact/test_exact_sides.py"),
    Mutant("contact", "contact/distances.py", "return dot(minus(y, p), n), n", "return dot(minus(p, y), n), n",
           "contact/test_obstacles.py"),
    Mutant("ledger", "ledger.py", "previous.total - row.total + sum(work.values())",
           "previous.total - row.total - sum(work.values())", LEDGER),
    Mutant("ledger", "ledger.py", "((before, 0.5), (after, 0.5))", "((before, 0.0), (after, 1.0))",
           "runs/test_ledger_quadrature.py"),
    Mutant("ledger", "ledger.py", "push = push - w *", "push = push + w *", LEDGER),
    Mutant("ledger", "ledger.py", "work.get(name, 0.0) + float(value)", "work.get(name, 0.0) - float(value)", LEDGER),
    Mutant("ledger", "ledger.py", "dt * sum(w * power", "-dt * sum(w * power", "articulated/test_force_books.py"),
    Mutant("ledger", "simulate.py", "row.numerical >= -GAIN * row.scale", "row.numerical >= -1e6 * row.scale",
           "runs/test_simulate.py"),
    Mutant("articulated", "articulated/se3.py", "(1.0 - np.cos(t)) / safe", "(1.0 + np.cos(t)) / safe",
           JOINTS),
    Mutant("articulated", "articulated/bodies.py", "I = m / 12.0 * (np.sum(s * s) - s * s)",
           "I = m / 12.0 * (np.sum(s * s) + s * s)", "articulated/test_tree.py"),
    Mutant("articulated", "articulated/dynamics.py", "+ h * at.f_r", "- h * at.f_r", COMPILED),
    Mutant("articulated", "articulated/dynamics.py", "self.q + h * u", "self.q + 0.9 * h * u",
           COMPILED),
    Mutant("articulated", "articulated/se3.py", "axis = 0.5 * np.array", "axis = 0.25 * np.array", JOINTS),
    Mutant("cloth", "cloth/kinematics.py", "np.eye(3)) / 12", "np.eye(3)) / 13", EOL),
    Mutant("cloth", "cloth/kinematics.py", 'energy = 0.5 * np.einsum("eij', 'energy = 1.0 * np.einsum("eij', EOL),
    Mutant("cloth", "cloth/transfer.py", "return -(image @ w)", "return (image @ w)", REMESH),
    Mutant("cloth", "cloth/transfer.py", "u = old.v[corners] - np", "u = old.v[corners] + np",
           "cloth/test_eol_books.py"),
    Mutant("coarsening", "systems/eigenfit_terms.py", "W @ ((self.ratios - 1.0)", "W @ ((self.ratios + 1.0)", FIT),
    Mutant("coarsening", "systems/eigenfit_terms.py", "0.5 * float(((self.ratios", "1.0 * float(((self.ratios",
           "coarsen/test_eigenfit_mixing.py"),
    Mutant("coarsening", "coarsen/ratios.py", "lam_f[partner] / np.where", "lam_f[partner] * np.where", FIT),
    Mutant("coarsening", "coarsen/dac.py", "first[1] / first[0]", "first[0] / first[1]", FIT),
    Mutant("integrators", "linear/rational.py", "-(h * h * lam) * c[2] * a", "(h * h * lam) * c[2] * a", RATIONAL),
    Mutant("integrators", "linear/rational.py", "if D is None else -h * D", "if D is None else h * D", RATIONAL),
    Mutant("integrators", "linear/rational.py", "v + h * c[k + 1] * g", "v + h * c[k] * g", RATIONAL),
    Mutant("integrators", "integrators/ere.py", "linear.f + linear.D @ linear.v", "linear.f - linear.D @ linear.v",
           RATIONAL),
    Mutant("integrators", "integrators/control.py", "h * (2.0 * a.v + b.v)", "h * (a.v + b.v)", ADAPTIVE,
           "states_between"),
    Mutant("integrators", "integrators/control.py", "6.0 * jump / h - 4.0 * a.v", "6.0 * jump / h - 3.0 * a.v",
           ADAPTIVE, "states_between"),
    Mutant("integrators", "integrators/control.py", "SAFETY * ratio ** (-1.0 / order)",
           "SAFETY * ratio ** (1.0 / order)", ADAPTIVE, "as_much_shorter"),
    Mutant("integrators", "integrators/estimate.py", "1.0 / (2**integrator.order - 1)",
           "1.0 / (2**integrator.order + 1)", ADAPTIVE, "the_estimate"),
    Mutant("energies", "forces/surface_load.py", "spread(-self._p(t) * a)", "spread(self._p(t) * a)", LOADS),
    Mutant("energies", "forces/surface_load.py", "matrix(-self._p(t) * da)", "matrix(self._p(t) * da)", PARTS, "force"),
    Mutant("energies", "forces/surface_load.py", "spread((0.5 * self._rho", "spread((1.0 * self._rho", LOADS),
    Mutant("energies", "forces/surface_load.py", "self._wind(t)) - v.", "self._wind(t)) + v.", LOADS),
    Mutant("energies", "forces/surface_load.py", "f[:, None] / 3.0", "f[:, None] / 2.0", LOADS),
    Mutant("gradients", "adjoint/fit.py", "dx = -(Vt.T", "dx = (Vt.T", IDENTIFIED),
    Mutant("gradients", "adjoint/fit.py", "student.ppf(0.975,", "student.ppf(0.75,", IDENTIFIED, "interval"),
    Mutant("gradients", "adjoint/regions.py", "weights=each) / np.bincount(labels)", "weights=each)", IDENTIFIED,
           "regions"),
)  # fmt: skip
