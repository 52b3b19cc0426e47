"""Studies: experiments whose results the documents quote, each a module that runs by itself."""
