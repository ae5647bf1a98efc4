"""A bot that plays on any server over a WebSocket, with any legal moves. See docs/gmcp.md.

``python outside.py ws://127.0.0.1:8485/ws Chance`` waits for challenges (``match chance``). It
needs ``pip install websockets``.
"""

import asyncio
import json
import random
import sys

from websockets.asyncio.client import ClientConnection, connect


async def play(link: str, name: str) -> None:
    """Play until the server closes the connection."""
    async with connect(link, subprotocols=["gmcp.mudstandards.org"]) as socket:  # type: ignore[list-item]
        await socket.send('Core.Supports.Set ["Thud 1", "Char.Login 1"]')
        async for message in socket:
            if isinstance(message, str):  # the text for people comes in binary messages
                package, _, data = message.partition(" ")
                await take(socket, name, package, json.loads(data or "null"))


async def take(socket: ClientConnection, name: str, package: str, data: dict) -> None:  # type: ignore[type-arg]
    """Answer a package: challenges and games come as these."""
    match package:
        case "Char.Login.Default":
            await socket.send(f"Char.Login.Credentials {json.dumps({'account': name})}")
        case "Char.Login.Result":
            print(data.get("message", "Waiting for challenges."), file=sys.stderr, flush=True)
        case "Thud.Seek" if data["to"] == name:
            await socket.send(f"accept {data['seek']}\n".encode())
        case "Thud.Table" if data["offers"]:
            theirs = [seat["side"] for seat in data["seats"] if seat["player"] not in {name, None}]
            if data["offers"][0]["side"] in theirs:
                begins = data["offers"][0]["offer"] in {"begin", "rematch"}
                await socket.send(f"{'start' if begins else 'no'} on {data['board']}\n".encode())
        case "Thud.Board" | "Thud.Move" if data["turn"]:
            await socket.send(f"Thud.Ask {json.dumps('view possible on ' + data['board'])}")
        case "Thud.Plies" if data["plies"]:  # a ply for the other side would only be refused
            ply = random.choice(data["plies"])  # noqa: S311
            await socket.send(f"ply {ply} on {data['board']}\n".encode())


if __name__ == "__main__":
    asyncio.run(play(*sys.argv[1:3]))
