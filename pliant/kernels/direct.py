"""Hessian blocks given directly: pair(F, p, g, h) is the 3x3 block of two nodes with shape gradients g and h."""

from pliant.kernels.bind import Functions, bind
from pliant.kernels.device import W, lanes, load8, load9

# Bound per element and density.
NODES = 4
pair = phase = None


def direct(psi, piola, pair):
    """Family of densities whose tangent needs no decomposition and no projection."""

    def functions(element, label):
        return Functions(psi, piola, direct_blocks(pair, element, label))

    return functions


def direct_blocks(pair, element, label):
    """The maker of blocks (see `isotropic.blocks`) for a device function ``pair``."""
    phase = lanes(bind(phase_pair, label, pair=pair))
    return lanes(bind(blocks, label, phase=phase, NODES=element.nodes))


def phase_pair(F, G, params, m, n, H):
    for l in range(W):
        w = G[l + 9 * W]
        i = l + 3 * m * W
        j = l + 3 * n * W
        g = w * G[i], w * G[i + W], w * G[i + 2 * W]
        h = G[j], G[j + W], G[j + 2 * W]
        B = pair(load9(F, l), load8(params, l), g, h)
        for k in range(9):
            H[l + k * W] = B[k]


def blocks(F, G, params, psd, S, H):
    k = 0
    for m in range(NODES - 1):
        for n in range(m, NODES - 1):
            phase(F, G, params, m, n, H[9 * W * k :])
            k += 1
