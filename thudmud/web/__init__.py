"""The web: HTTP and WebSocket frames of a connection -> lines and packages, and back.

One port serves the files of the page, `page/`, and what else `routes` has, and plays over `/ws`, by
the subprotocol ``gmcp.mudstandards.org``: binary frames are text, text frames are packages of GMCP.
What a session is told of a connection, packages and the screen are those of `thudmud.telnet`.
`mudlet/` is a board for Mudlet, which is served beside the page.
"""
