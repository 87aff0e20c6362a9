#!/usr/bin/python3
"""The ten-minute tour (datasets/gallery/tour.md) by a driver who looks at the gauges: digs, lifts, swings, pulls a plug; writes the tour's pictures.

usage: python3 tour.py [FOLDER]     needs Chromium and `bramah` (or BRAMAH_PROGRAM); writes tour_*.png and driven.csv into the folder"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
from devtools import Browser  # noqa: E402

study = here.parents[1] / "datasets" / "excavator" / "encoders.yaml"
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
os.chdir(folder)
program = os.environ.get("BRAMAH_PROGRAM", "bramah")
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

server = subprocess.Popen([program, "serve", str(study), "--from", "simulator", "--drive", "--log", "driven.csv", "--port", "0"],
                          stdout=subprocess.PIPE, text=True)
address = re.search(r"http://\S+", server.stdout.readline())[0]
browser = Browser(chromium, "1280,1130")
page = browser.open(address)


def gauge(name):
    return f"Number(document.querySelector('[data-name={name}]').dataset.value)"


def seconds(n):
    """Of the simulation."""
    begin = page.ask("Number(document.documentElement.dataset.t)")
    page.wait(f"Number(document.documentElement.dataset.t) > {begin + n}")


def hold(keys, until):
    """Some keys, until a gauge is where it should be."""
    for key in keys:
        page.key(key, True)
    page.wait(until)
    for key in keys:
        page.key(key, False)


try:
    page.wait("!document.querySelector('#drive').hidden && document.querySelector('[data-name=height]').dataset.value !== ''")
    seconds(0.3)
    page.picture("tour_start.png")
    # A browser that draws by software is a slow driver: he takes his time.
    page.ask("(() => { const s = document.querySelector('#speed'); s.value = 0.25; s.dispatchEvent(new Event('change')); })()")
    page.ask("document.querySelector('#drive-on').click()")
    page.wait("document.querySelector('#driver').textContent === 'You drive'")
    hold("i", gauge("height") + " < -0.08")              # boom down, until the teeth are in the ground
    hold("s", gauge("dipper") + " < -1.8")               # dipper in: the teeth cut
    hold("sj", gauge("bucket") + " < -1.6")              # and the bucket
    page.picture("tour_dig.png")
    hold("j", gauge("bucket") + " < -2.1")
    hold("k", gauge("height") + " > 1.2")                # boom up
    hold("a", gauge("slew") + " > 0.5")                  # and round to the left
    seconds(1.5)
    page.picture("tour_load.png")
    load = page.ask("document.querySelector('[data-name=load] .value').textContent")
    page.ask("document.querySelector('#plugs').open = true")
    page.ask("document.querySelector('[data-sensor=p_boom_piston]').click()")
    page.wait("document.querySelector('#bad').textContent.includes('p_boom_piston')")
    seconds(1)
    page.picture("tour_plug.png")
    said = page.ask("document.querySelector('[data-name=load] .note').textContent")
    page.ask("document.querySelector('[data-sensor=p_boom_piston]').click()")
    seconds(1)
    print("load:", load, "| without its pressure:", said, "|", page.ask("document.querySelector('#bad').textContent"))
finally:
    browser.close()
    server.send_signal(signal.SIGINT)
    print(server.communicate()[0])
