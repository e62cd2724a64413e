"""The llama.cpp worker: a child process that holds one model, and nothing else in common.

`templates` (with `templates_*`) and `think` are pure Python and know no llama.cpp: how a
conversation becomes a prompt, and how a stream of text becomes thinking and answer.
"""
