"""The IETF's guidelines for characterising queue management, for any list of disciplines."""
