"""What packaging/run and packaging/test do before they start anything: set-up, step by step.

Runs on a bare Python 3.11: the standard library only. Modules depend downwards only::

    set_up.py > plan > environment | llama | qt | translations | testing > sources | wheel > system > work > site

`plan` is the list of steps. A step that is finished leaves a stamp in `.venv/porthole`, so that
nothing is done twice and an interrupted set-up goes on where it stopped.
"""
