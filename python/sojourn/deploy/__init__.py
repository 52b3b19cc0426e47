"""A scenario's link as commands for a Linux router: the rate by HTB, the discipline by its own."""

from sojourn.deploy.script import DeployError, Deployment, deploy

__all__ = ["DeployError", "Deployment", "deploy"]
