"""Cloth on sharp features: Eulerian-on-Lagrangian dynamics, conformal and adaptive remeshing [Weidner2022, ch. 2].

``body`` is what a user writes, ``sheet`` the mesh as a value, ``kinematics`` and ``system`` the physics,
``surroundings`` and ``hands`` what acts on it; ``adapt`` (with ``collide``, ``conform``, ``remesh``, ``transfer``),
``constraints`` and ``friction`` are what ``prepare`` makes a velocity step of.
"""
