"""The lab: a page on this machine where one moves a slider and sees the queue answer.

A *setting* (:mod:`~sojourn.lab.setting`) is all that is on the table: a scenario, what was changed
in it, and what tells the sides A and B apart. :mod:`~sojourn.lab.controls` says what can be moved,
:mod:`~sojourn.lab.limits` what may be asked for, :mod:`~sojourn.lab.work` runs it and stops what is
no longer wanted, :mod:`~sojourn.lab.answers` makes figures of it, with the functions of the report,
and :mod:`~sojourn.lab.server` talks with the browser.
"""
