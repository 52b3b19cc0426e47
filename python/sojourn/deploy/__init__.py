"""A scenario's link for devices: as commands of a Linux router, the rate by HTB, the discipline by
its own; and as Verilog for a switch."""

from sojourn.deploy.script import DeployError, Deployment, deploy
from sojourn.deploy.verilog import verilog

__all__ = ["DeployError", "Deployment", "deploy", "verilog"]
