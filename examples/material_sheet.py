"""Stress against stretch of the isotropic materials, for bars stretched along x without moving sideways.

They differ as soon as the stretch is large. At rest all of them are linear elasticity: the slope of the first
Piola-Kirchhoff stress is the P-wave modulus E (1 - nu) / ((1 + nu) (1 - 2 nu)).
"""

import numpy as np

import pliant as pl

E, nu = 1e5, 0.3
materials = [
    material(E, nu)
    for material in (pl.StableNeoHookean, pl.StableNeoHookeanLog, pl.NeoHookean, pl.StVK, pl.Corotational, pl.Linear)
]
stretch = np.linspace(0.5, 2.0, 61)
F = np.tile(np.eye(3), (len(stretch), 1, 1))
F[:, 0, 0] = stretch
stress = {type(material).__name__: material.piola(F)[:, 0, 0] for material in materials}  # [Pa]
nearly = np.eye(3) + np.array([[[1e-6, 0, 0], [0, 0, 0], [0, 0, 0]]])
slopes = np.array([(m.piola(nearly) - m.piola(np.eye(3)[None]))[0, 0, 0] / 1e-6 for m in materials])
modulus = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu))


def visualize() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="stretch", ylabel="P_xx [kPa]")
    for name, curve in stress.items():
        axes.plot(stretch, 1e-3 * curve, label=name)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig("material_sheet.png", dpi=120)
    print("plot: material_sheet.png")


for material, slope in zip(materials, slopes):
    print(f"{type(material).__name__:22} {slope:10.1f} Pa at rest, {stress[type(material).__name__][-1]:10.0f} Pa at 2")
assert np.abs(slopes / modulus - 1).max() < 1e-4

if __name__ == "__main__":
    visualize()
