//! The extension module of the Python package: nothing but conversion.
