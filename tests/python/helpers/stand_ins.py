"""Stand-ins, of Python's standard library, for programs of recipes that a machine may lack."""

from __future__ import annotations

import sys
from pathlib import Path

BROWSER = """
import re, sys, urllib.parse, urllib.request
page = sys.argv[-1]
text = urllib.request.urlopen(page, timeout=60).read().decode()
for part in re.findall('src="([^"]+)"', text):
    urllib.request.urlopen(urllib.parse.urljoin(page, part), timeout=60).read()
print(text)
"""
PLAYER = """
import sys, time, urllib.request
RATE = 400e3 / 8
stream, got, ready, stalls = urllib.request.urlopen(sys.argv[-1], timeout=60), 0, None, 0
while part := stream.read(4096):
    got += len(part)
    now = time.monotonic()
    if ready is None and got >= RATE / 2:
        ready = now
    if ready is not None and (now - ready) * RATE > got:
        stalls, ready = stalls + 1, now - got / RATE
time.sleep(max(0.0, (ready or 0) + got / RATE - time.monotonic()))
print("played", got, "bytes with", stalls, "stalls")
"""
IPERF3 = """
import os, socket, sys, time
if "-s" in sys.argv:
    listener = socket.create_server((os.environ["NODEB_SERVER"], 5201))
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        until = time.monotonic() + float(connection.recv(100))
        while time.monotonic() < until:
            connection.sendall(bytes(8192))
        connection.close()
value = dict(zip(sys.argv, sys.argv[1:]))
with socket.create_connection((value["-c"], 5201)) as connection:
    connection.sendall(value["-t"].encode())
    begun, got = time.monotonic(), 0
    while part := connection.recv(65536):
        got += len(part)
    print(8e-3 * got / (time.monotonic() - begun), "kbit/s receiver")
"""
QUIC_SERVER = """
import os, socket, sys
value = dict(zip(sys.argv, sys.argv[1:]))
host, port = value["--listen"].split(":")
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((host, int(port)))
while True:
    request, client = server.recvfrom(2000)
    path, _, at = request.decode().rpartition(" ")
    data = open(value["--root"] + path, "rb").read()[int(at):int(at) + 1200]
    server.sendto(at.encode() + b" " + data, client)
"""
QUIC_CLIENT = """
import socket, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[-1])
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(3)
body = b""
while True:
    client.sendto(f"{url.path} {len(body)}".encode(), (url.hostname, url.port))
    try:
        at, _, part = client.recv(2000).partition(b" ")
    except TimeoutError:
        continue
    if int(at) == len(body):
        body += part
        if len(part) < 1200:
            break
print(body.decode())
"""
PROGRAMS = {
    "chromium": BROWSER,
    "mpv": PLAYER,
    "iperf3": IPERF3,
    "quiche-server": QUIC_SERVER,
    "quiche-client": QUIC_CLIENT,
}


def install(folder: Path) -> Path:
    """Writes all stand-ins as programs to a folder, which is to begin `PATH`."""
    folder.mkdir()
    for name, text in PROGRAMS.items():
        program = folder / name
        program.write_text(f"#!{sys.executable}\n{text}")
        program.chmod(0o755)
    return folder
