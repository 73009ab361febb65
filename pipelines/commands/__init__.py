"""The commands of `mbw`, one module each: `add_parser` declares it, `run` does it and returns the exit status.

Modules here import at their top only what costs nothing, so that `mbw --help` is quick; `run` imports the rest.
"""
