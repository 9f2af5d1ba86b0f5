"""Maps between coordinates, and the scripts that move some of them."""

from pliant.maps.motions import Keyframes, Phases, Shake, Track

MOTIONS = (Keyframes, Shake, Phases, Track)
