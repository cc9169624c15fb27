"""How many requests `plurank serve` answers: a model of 10 rankings and 500 items, 50 connections on loopback.

    python -m benchmarks.service [--workers 1] [--seconds 10]

Each address is asked for some seconds by wrk where it is installed, else by a small client in Python, which is itself a
limit. ``cpu_us`` is the processor time the server takes for a request, in microseconds: unlike the requests a second it
hardly depends on what else the machine does (``load`` is its load average before). /rank is of 100 known users, whose
orders are remembered after the first time; /rank, new: of somebody with five answers, computed each time.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

import plurank
from benchmarks.common import parser_of, write_results
from tests.web.servers import started

CONNECTIONS, SEED, N_BODIES = 50, 0, 100
LUA = """
local bodies = {%s}
local n = 0
local threads = 0
function setup(thread) threads = threads + 1; thread:set("me", threads) end
function request()
  n = n + 1
  local body = bodies[n %% #bodies + 1]:gsub("UNIQUE", "wrk-" .. me .. "-" .. n)
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, body)
end
"""


def make_model(file: Path) -> None:
    people = plurank.simulate(2000, 500, 10, 60, concentration=0.5, random_state=SEED)
    model = plurank.MixedRanking(
        10, mixing="probability", init="items", concentration=1.0, score_scale=1.0, max_iter=1000, random_state=SEED
    )
    model.fit(people.comparisons).save(file)


def bodies() -> dict[str, tuple[str, list[str]]]:
    """Give the address and the requests of every case."""
    rng = np.random.default_rng(SEED)

    def pair() -> list[int]:
        return rng.choice(500, 2, replace=False).tolist()

    def asked() -> dict[str, int]:
        left, right = pair()
        return {"user": int(rng.integers(2000)), "left": left, "right": right}

    def answer() -> dict[str, int]:
        winner, loser = pair()
        return {"winner": winner, "loser": loser}

    cases = {
        "/predict, 1 pair": ("/predict", lambda: {"pairs": [asked()]}),
        "/predict, 100 pairs": ("/predict", lambda: {"pairs": [asked() for _ in range(100)]}),
        "/rank, known user": ("/rank", lambda: {"user": int(rng.integers(2000)), "top": 10}),
        "/rank, new": ("/rank", lambda: {"answers": [answer() for _ in range(5)], "top": 10}),
        "/fold-in": ("/fold-in", lambda: {"answers": [answer() for _ in range(5)]}),
        "/next-pair": ("/next-pair", lambda: {"answers": [answer() for _ in range(5)]}),
        "/feedback": ("/feedback", lambda: {"id": "UNIQUE", "user": "visitor", **answer()}),
    }
    return {case: (path, [json.dumps(make()) for _ in range(N_BODIES)]) for case, (path, make) in cases.items()}


def ask_by_wrk(url: str, requests: list[str], seconds: int, folder: Path) -> dict[str, float]:
    script = folder / "requests.lua"
    script.write_text(LUA % ",".join(f"[[{body}]]" for body in requests))
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}", "--timeout", "30", "--latency", "-s", script, url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    lost = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
    return {
        "requests": int(re.search(r"(\d+) requests in", said)[1]),
        "per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]),
        "p50_ms": _milliseconds(re.search(r"50%\s+(\S+)", said)[1]),
        "p99_ms": _milliseconds(re.search(r"99%\s+(\S+)", said)[1]),
        "errors": (int(failed[1]) if failed else 0) + (sum(map(int, lost.groups())) if lost else 0),
    }


def _milliseconds(text: str) -> float:
    found = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text)
    if found is None:  # not one request was answered in time
        return float("nan")
    number, unit = found.groups()
    return round(float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}[unit], 2)


def ask_by_python(url: str, requests: list[str], seconds: int, _: Path) -> dict[str, float]:
    times, errors, deadline = [], [], time.monotonic() + seconds

    async def ask(client: httpx.AsyncClient, who: int) -> None:
        n = 0
        while time.monotonic() < deadline:
            body = requests[(n + who) % N_BODIES].replace("UNIQUE", f"py-{who}-{n}")
            begin, n = time.perf_counter(), n + 1
            answer = await client.post(url, content=body, headers={"content-type": "application/json"})
            times.append(time.perf_counter() - begin)
            if answer.status_code >= 300:
                errors.append(answer.status_code)

    async def ask_all() -> None:
        async with httpx.AsyncClient(timeout=30, limits=httpx.Limits(max_connections=CONNECTIONS)) as client:
            await asyncio.gather(*(ask(client, who) for who in range(CONNECTIONS)))

    asyncio.run(ask_all())
    p50, p99 = (round(1e3 * float(np.quantile(times, q)), 2) for q in (0.5, 0.99))
    found = {"requests": len(times), "per_second": round(len(times) / seconds, 1), "p50_ms": p50, "p99_ms": p99}
    return {**found, "errors": len(errors)}


def processor_seconds(process: int) -> float:
    """Processor time of a process and of those it started, so far; Linux only."""
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if process in (int(folder.name), int(fields[1])):
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def measure(workers: int, seconds: int, folder: Path) -> list[dict[str, object]]:
    model = folder / "model.plurank"
    make_model(model)
    ask, rows = ask_by_wrk if shutil.which("wrk") else ask_by_python, []
    with started(model, "--workers", workers, "--show-results", "--show-people") as (server, address):
        for case, (path, requests) in bodies().items():
            for body in requests if case == "/rank, known user" else requests[:5]:  # what is remembered, is now
                httpx.post(address + path, content=body, headers={"content-type": "application/json"}, timeout=60)
            load, before = os.getloadavg()[0], processor_seconds(server.pid)
            begin = time.monotonic()
            found = ask(address + path, requests, seconds, folder)
            took = processor_seconds(server.pid) - before
            row = {"case": case, "workers": workers, "connections": CONNECTIONS, "seed": SEED, **found}
            row["cpu_us"] = round(1e6 * took / max(found["requests"], 1))
            row["cores_used"] = round(took / (time.monotonic() - begin), 2)
            rows.append({**row, "load": round(load, 1), "client": ask.__name__.removeprefix("ask_by_")})
            print(row, flush=True)
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_results("service", measure(given.workers, given.seconds, Path(folder)), replacing="workers")


if __name__ == "__main__":
    main()
