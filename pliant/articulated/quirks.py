"""Deviations of the public reference code, needed only to reproduce its regression energies. All off by default."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quirks:
    """Each switch repeats one known defect of the reference; none is physics.

    ``reaction_to_previous``: joint reactions go to the previous link of the list instead of the parent.
    ``damper_adds_velocity``: a spring-damper also adds its damping force with the opposite sign on the right.
    ``spring_energy_over_length``: the energy of a spring-damper is k/2 ((l-L)/L)^2, lacking a factor L.
    ``upper_limit_flipped``: the stabilisation of an upper joint limit has the opposite sign.
    ``no_rate_feedback``: prescribed motion at acceleration level is not fed back from the velocity error.
    """

    reaction_to_previous: bool = False
    damper_adds_velocity: bool = False
    spring_energy_over_length: bool = False
    upper_limit_flipped: bool = False
    no_rate_feedback: bool = False
