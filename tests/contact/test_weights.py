"""Weights of closest points that are nothing but round-off do not decide which side of a contact a vertex is on."""

import numpy as np

from pliant.contact.obstacles import Box
from pliant.contact.pose import passage
from pliant.contact.setting import Setting, Shape
from pliant.contact.surfaces import Surfaces
from pliant.mesh import sheet


def test_an_obstacle_never_touches_with_a_weight_of_round_off() -> None:
    mesh = sheet((1.0, 1.0), (2, 2))
    setting = Setting([Shape(mesh, np.ones(len(mesh.X)), "sheet")], [Box((0.5, 0.5, -0.6), (1.0, 1.0, 1.0))])
    surfaces, still = Surfaces(setting), [passage(None, 0.0, 0.01)]
    V, n = surfaces.vertices(mesh.X, still), len(mesh.X)
    ids = np.array([[n, n + 1, 0, 1]])  # an edge of the box and one of the sheet
    weights = surfaces._signed(ids, np.array([[1.0 + 1e-17, -1e-17, -0.4, -0.6]]))
    contacts = surfaces._as_contacts(ids, weights, V)
    assert set(contacts.nodes[0][contacts.weights[0] != 0.0]) == {0, 1}
    np.testing.assert_allclose(np.sort(contacts.weights[0]), [0.0, 0.0, 0.4, 0.6])
    assert contacts.other[0] == -1
