"""Breaks the Python code in one place at a time and sees whether a test notices.

    python -m mutants [--number 40] [--seed 1] [--seconds 600] [--of statistics]

A mutant is a copy of the package with one operator, comparison, number, condition or returned value
changed. Mutants are drawn at random, as many from each part, and each is caught if one of the tests
fails that reach the place, or does not end.

The Rust code is broken as cargo-mutants would do it: `python -m mutants.rust --help`.
"""
