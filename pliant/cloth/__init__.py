"""Cloth on sharp features: Eulerian-on-Lagrangian dynamics, conformal and adaptive remeshing [Weidner2022, ch. 2].

``sheet`` is the mesh as a value, ``kinematics`` and ``system`` the physics, ``obstacles`` and ``world`` what is around;
``collide``, ``conform``, ``remesh``, ``transfer``, ``constraints``, ``friction`` are the parts of a ``step``.
"""
