"""Recording runs into folders, reading them back, going on with them."""

from pliant.record.again import fork, resume
from pliant.record.output import Output
from pliant.record.recorder import Interrupted, record
from pliant.record.run import Run, load

__all__ = ["Interrupted", "Output", "Run", "fork", "load", "record", "resume"]
