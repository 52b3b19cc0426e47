"""Environments for learners, as Gymnasium has them: ``pip install 'sojourn[gymnasium]'``."""

from __future__ import annotations

from sojourn.extras import require

require("gymnasium", "sojourn.environments")

from sojourn.environments.aqm import AqmEnv
from sojourn.environments.flow import FlowEnv

__all__ = ["AqmEnv", "FlowEnv"]
