"""The web port: HTTP and WebSocket translated to lines and GMCP packages, and back.

One port serves the page's files (`page/`) and the other paths in `routes`. The game runs over
WebSocket at `/ws`, with the subprotocol ``gmcp.mudstandards.org``: binary frames carry text, and
text frames carry GMCP packages. The session interface, the packages and the screen are shared with
`thudmud.telnet`. `mudlet/` is a board panel for Mudlet, served beside the page.
"""
