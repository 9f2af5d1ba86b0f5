"""Articulated bodies in reduced coordinates: RedMax, and joint friction by BISP [Weidner2022, ch. 3]."""
