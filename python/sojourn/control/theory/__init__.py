"""Tables, theorems and examples of theory, from the formulas that papers print."""
