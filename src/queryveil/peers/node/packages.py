"""Check for the packages of the node before its modules import them.

Whoever imports the node from Python gets one line with the command to install them.
"""

from __future__ import annotations

from ...core.extras import import_extra

for _package in ("ada_url", "httpx", "starlette", "uvicorn"):
    import_extra(_package, "a node", of="peers")
