"""The lab: a page in which packets run, and a slider that is moved acts at once.

:mod:`~sojourn.lab.experiment` reads its experiments, :mod:`~sojourn.lab.controls` says what can be
moved in them. :mod:`~sojourn.lab.page` makes one HTML file of these, of the scripts in ``assets``
and of the engine for browsers; :mod:`~sojourn.lab.serve` hands that file out.
"""
