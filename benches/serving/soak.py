"""A server under full load whose model is replaced every five seconds: docs/serving.md, "Measurements".

    python benches/serving/soak.py RIVALRY MODEL_A MODEL_B --rounds 10

MODEL_A and MODEL_B are model files of the same users. Needs wrk and two cores: the server has one, wrk the other. A round is a
minute of load with twelve swaps. Every answer is compared with the right ones of both models, and the server's memory is read before
every swap.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

USERS = 300
ROUND = 60
SWAPS = 12


class Server:
    """A server on the first core, and the model file that it watches."""

    def __init__(self, command: str, model: Path) -> None:
        self.folder = Path(tempfile.mkdtemp())
        shutil.copy(model, self.folder / "model.safetensors")
        arguments = ["serve", str(self.folder / "model.safetensors"), "--listen", "127.0.0.1:0", "--threads", "1", "--watch", "0"]
        self.process = subprocess.Popen(["taskset", "-c", "0", command, *arguments], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.fullmatch(r"serving on (http://\S+)\n", self.process.stdout.readline())
        assert found is not None
        self.address = found[1]

    def ask(self, path: str, body: bytes | None = None) -> str:
        with urllib.request.urlopen(urllib.request.Request(self.address + path, body)) as answer:
            return str(answer.read().decode())

    def swap(self, model: Path) -> None:
        shutil.copy(model, self.folder / "next")
        os.replace(self.folder / "next", self.folder / "model.safetensors")
        assert '"swapped"' in self.ask("/api/reload", b"")

    def memory(self, field: str) -> float:
        """Resident memory in MB: VmRSS now, VmHWM at most."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def load(server: Server, answers: Path, users: Path, connections: int) -> subprocess.Popen[str]:
    environment = os.environ | {"RIVALRY_USERS": str(users), "RIVALRY_ANSWERS": str(answers)}
    script = str(Path(__file__).with_name("users.lua"))
    wrk = ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{ROUND}", "--latency", "-s", script, server.address]
    return subprocess.Popen(wrk, env=environment, stdout=subprocess.PIPE, text=True)


def soak(server: Server, models: list[Path], rounds: int, connections: int) -> None:
    print(f"after load {server.memory('VmRSS'):.1f} MB, at most {server.memory('VmHWM'):.1f} MB")
    users = json.loads(server.ask(f"/api/users?n={USERS}"))["users"]
    users_file, answers = server.folder / "users", server.folder / "answers"
    users_file.write_text("\n".join(users) + "\n")
    with answers.open("w") as file:
        for model in reversed(models):
            server.swap(model)
            file.writelines(server.ask(f"/api/recommend/{user}?n=20") + "\n" for user in users)
    totals: Counter[str] = Counter()
    swaps = 0
    for number in range(1, rounds + 1):
        wrk = load(server, answers, users_file, connections)
        sizes = []
        start = time.monotonic()
        for swap in range(SWAPS):
            time.sleep(max(0, start + (swap + 0.5) * ROUND / SWAPS - time.monotonic()))
            sizes.append(server.memory("VmRSS"))
            swaps += 1
            server.swap(models[swaps % 2])
        output, _ = wrk.communicate()
        for amount, what in re.findall(r"(\d+) (right|wrong|connect|read|write|status|timeout)", output.split("compared:")[1]):
            totals[what] += int(amount)
        latency = re.search(r"^ +99% +(\S+)", output, re.MULTILINE)
        print(f"round {number:2}: {min(sizes):.1f} to {max(sizes):.1f} MB, p99 {latency and latency[1]}, {dict(totals)}", flush=True)
    print(f"{swaps} swaps, at most {server.memory('VmHWM'):.1f} MB; model files of {models[0].stat().st_size / 2**20:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("models", nargs=2, type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=8)
    args = parser.parse_args()
    server = Server(args.command, args.models[0])
    try:
        soak(server, args.models, args.rounds, args.connections)
    finally:
        server.process.terminate()
        server.process.wait()


if __name__ == "__main__":
    main()
