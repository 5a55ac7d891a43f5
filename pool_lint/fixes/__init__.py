"""Mend findings: candidates made with libcst, each analysed again before it is offered."""
