"""Study ``fluid-2000``: the fluid model's validation experiments beside packets."""

from sojourn.studies.fluid_2000.study import Fluid2000

__all__ = ["Fluid2000"]
