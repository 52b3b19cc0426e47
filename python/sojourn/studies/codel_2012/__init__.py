"""CoDel and FQ-CoDel as their authors showed them at IETF 84: one module for each part."""
