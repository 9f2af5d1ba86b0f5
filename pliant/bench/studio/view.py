"""studio/view: frames per second that a replay of a run with 10,000 vertices delivers to a browser's connection.

A process of its own connects to the page's websocket as a browser does, unpacks what arrives, and counts the different
pictures of the run (new vertex positions) within some seconds. The player sends 30 pictures per second at most.
"""

import struct
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from socket import socket
from threading import Thread
from time import monotonic, process_time
from typing import Any

from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Membrane
from pliant.export import clip
from pliant.integrators import LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar as bar_mesh
from pliant.mesh import sheet
from pliant.record import record
from pliant.scene import Scene
from pliant.scenes.qlb import bar
from pliant.view import Replay

STEPS = 20
TARGET = 20.0  # frames per second


def run(*, quick: bool = False) -> Table:
    mesh = bar_mesh(size=(0.3, 0.1, 0.1), cells=(22, 7, 7)) if quick else None
    h = 1.0 / 60.0  # more frames per second of the run than the player sends
    solid = replace(bar(mesh=mesh, integrator=LinearlyImplicit()), h=h, duration=STEPS * h)
    cloth = sheet(cells=(30, 30) if quick else (100, 99), pattern="alternating")
    held = Membrane(cloth, StableNeoHookean("200 kPa", 0.3), thickness="1 mm", pins=Pin(cloth.where(_corner)))
    flat = Scene([held], integrator=LinearlyImplicit(), h=h, duration=STEPS * h)
    rows = [measure(name, scene, 2.0 if quick else 10.0) for name, scene in (("BAR", solid), ("cloth", flat))]
    slowest = min(row["frames/s"] for row in rows)
    claim = Claim("frames delivered to a client", f">= {TARGET:g} per second", f"{slowest:.1f}", slowest >= TARGET)
    note = "wall-clock time on a machine that does other things too; of BAR only the surface is sent"
    return Table(
        "studio/view",
        f"Replay through a websocket, {STEPS + 1} frames in a loop",
        rows,
        [claim],
        [note],
        plot=Plot("run", "frames/s"),
    )


def measure(name: str, scene: Scene, seconds: float) -> dict[str, Any]:
    """Record a scene, replay it, and count what arrives at another process."""
    with tempfile.TemporaryDirectory() as folder:
        made = record(replace(scene, on_failure="warn"), Path(folder) / "run")
        with socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        replay = Replay([made], port=port, playing=True)
        server = Thread(target=replay.serve, daemon=True)
        server.start()
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            start = process_time()
            frames, size, elapsed = pool.submit(received, port, seconds).result()
            cost = process_time() - start
        replay.stop()
        server.join()
        shown = len(clip(made).picture(0).points)
    return {
        "run": name,
        "vertices": len(scene.bodies[0].mesh.X),
        "vertices sent": shown,
        "frames/s": frames / elapsed,
        "MB/s": size / elapsed / 2**20,
        "server CPU ms/frame": 1e3 * cost / max(frames, 1),
    }


def received(port: int, seconds: float) -> tuple[int, int, float]:
    """Pictures and bytes that arrive within so many seconds after the first picture, and the exact time."""
    import msgspec
    import viser
    import zstandard
    from websockets.sync.client import connect

    frames, size, start = 0, 0, None
    unpack = zstandard.ZstdDecompressor()
    protocol = [f"viser-v{viser.__version__}"]
    with connect(f"ws://127.0.0.1:{port}", subprotocols=protocol, max_size=None, compression=None) as line:  # type: ignore[arg-type]
        while start is None or monotonic() - start < seconds:
            raw = line.recv()
            assert isinstance(raw, bytes)
            _, packed = struct.unpack_from("<QQ", raw)
            told = msgspec.msgpack.decode(unpack.decompress(raw[16 : 16 + packed]))["messages"]
            new = sum("vertices" in message.get("updates", ()) for message in told)
            if start is None and new:
                start = monotonic()
                continue
            frames, size = frames + new, size + len(raw)
    assert start is not None
    return frames, size, monotonic() - start


def _corner(X: Any) -> Any:
    return (X[:, 1] > 1 - 1e-9) & ((X[:, 0] < 1e-9) | (X[:, 0] > 1 - 1e-9))
