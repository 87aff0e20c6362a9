#!/usr/bin/python3
# The page of `bramah serve` in a real browser: what gauges show is what the filter estimates at that time; pause, seek, a server that goes
# and comes back.
# browser_live.py CHROMIUM STUDY LOG PICTURES
import csv
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

from devtools import PATIENCE, Browser, check

chromium, study, log, pictures = sys.argv[1:]
program = os.environ['BRAMAH_PROGRAM']


def serve(port, study=study, source=('--from', log, '--stay')):
    server = subprocess.Popen([program, 'serve', study, *source, '--port', str(port)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    line = server.stdout.readline()
    found = re.match(r'open (http://127.0.0.1:(\d+)/)', line)
    check(found, line)
    return server, found[1], int(found[2])


subprocess.run([program, 'replay', study, log, '--output', 'replayed.csv'], check=True, stdout=subprocess.DEVNULL)
with open('replayed.csv') as file:
    rows = list(csv.reader(file))
column = {name.split('[')[0]: k for k, name in enumerate(rows[0])}
table = {float(row[0]): row for row in rows[1:]}

server, address, port = serve(0)
browser = Browser(chromium)
try:
    page = browser.open(address)

    with urllib.request.urlopen(address + 'display.json') as answer:
        about = json.load(answer)
    output_of = {gauge['name']: about['outputs'][gauge['output']]['name'] for gauge in about['gauges']}

    def compare():
        """What the gauges hold is what the filter has at the time shown."""
        t, gauges = page.ask('''[document.documentElement.dataset.t, [...document.querySelectorAll('.gauge')].map((g) =>
          [g.dataset.name, g.dataset.value, g.dataset.sigma])]''')
        row = table[round(float(t), 9)]
        n = 0
        for name, value, sigma in gauges:
            if value == '':
                continue
            output = output_of[name]
            check('%.10g' % float(value) == '%.10g' % float(row[column[output]]), (t, name, value, row[column[output]]))
            if output + '.sigma' in column:
                check('%.6g' % float(sigma) == '%.6g' % float(row[column[output + '.sigma']]), (t, name, sigma))
            n += 1
        check(n, 'no gauge has a value at %s' % t)
        return float(t), n

    page.wait('document.documentElement.dataset.t !== undefined')
    compared = [compare() for _ in range(5)]
    page.wait("document.querySelector('#verdict').className !== 'none'")  # the log has ended
    seek = "(() => { const s = document.querySelector('#seek'); s.value = %g; s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change')); })()"
    page.wait("document.querySelector('#play').getClientRects().length")
    page.ask("fetch('control', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{\"pause\": true}'}).then((a) => a.status)")
    for t in (0.25, 0.75, 0.5):
        page.ask(seek % t)
        page.wait('Math.abs(document.documentElement.dataset.t - %g) < 2e-3' % t)
        compared.append(compare())
    page.picture(os.path.join(pictures, 'serve-paused.png'))

    # The server goes, and comes back at the same place.
    server.send_signal(signal.SIGINT)
    check(server.wait(PATIENCE) == 130, 'Ctrl-C')
    page.wait("/CONNECTION LOST|no connection|no values/.test(document.querySelector('#state-text').textContent)")
    page.picture(os.path.join(pictures, 'serve-lost.png'))
    server, address, port = serve(port)
    page.wait("Number(document.documentElement.dataset.t) !== 0.5 && !document.documentElement.classList.contains('old')")
    compared.append(compare())
    check(not page.complaints, page.complaints)
    server.terminate()
    server.wait()

    # A machine that is driven by keys: pressed, let go; a second viewer looks on; a plug is pulled; who drives is gone.
    with open('levers.yaml', 'w') as file:
        file.write('display: levers\ngauges: {valve: {kind: number, output: valve.command, unit: V}}\n'
                   'drive: {valve: {range: [-4 V, 3 V], keys: [a, d], stick: left_x}}\n')
    with open(study) as file, open('levers-study.yaml', 'w') as out:
        out.write('display: levers.yaml\n' + file.read())
    server, address, port = serve(0, 'levers-study.yaml', ('--from', 'simulator', '--drive'))
    driver, other = browser.open(address), browser.open(address)
    valve = "Number(document.querySelector('[data-name=valve]').dataset.value)"
    who = "document.querySelector('#driver').textContent"
    shown = "!document.querySelector('#drive').hidden && document.querySelector('[data-name=valve]').dataset.value !== ''"
    for one in (driver, other):
        one.do('Emulation.setFocusEmulationEnabled', enabled=True)  # a hidden page leaves its stream
        one.wait(shown)
    driver.key('d', True)
    driver.key('d', False)  # means the look as long as nobody drives
    driver.ask("document.querySelector('#drive-on').click()")
    driver.key('d', True)
    driver.wait(valve + ' === 1.5')  # a key moves it halfway
    check(driver.wait(who + " === 'You drive'"), 'who drives')
    other.wait(who + " === 'Another viewer drives'")
    driver.key('d', False)
    driver.wait(valve + ' === 0')
    driver.key('Shift', True)
    driver.key('a', True)
    driver.wait(valve + ' === -4')
    driver.ask("document.querySelector('#plugs button').click()")
    driver.wait("document.querySelector('#bad').textContent.includes('LOST') && document.querySelector('#plugs button').textContent === 'Put it in again'")
    driver.picture(os.path.join(pictures, 'serve-driven.png'))
    driver.key('?', True)
    check(driver.ask("document.querySelector('#help').open && document.querySelector('#help').textContent.includes('valve')"), 'help')
    driver.ask("document.querySelector('#help').close()")
    driver.do('Page.close')  # with its keys pressed
    other.wait(valve + " === 0 && " + who + " === 'Nobody drives'")
    other.ask("document.querySelector('#drive-on').click()")
    other.do('Emulation.setDeviceMetricsOverride', width=390, height=844, deviceScaleFactor=1, mobile=True)
    check(other.ask("document.documentElement.scrollWidth <= 390 && [...document.querySelectorAll('#drive button')].every((b) => !b.getClientRects().length || "
                    "b.getBoundingClientRect().height >= 44)"), 'a narrow screen')
    side = other.ask("(() => { const r = document.querySelector('.pad').getBoundingClientRect(); window.scrollTo(0, r.top - 100); "
                     "const s = document.querySelector('.pad').getBoundingClientRect(); return [s.left, s.top, s.width]; })()")
    x, y = side[0] + side[2] / 2, side[1] + side[2] / 2
    touch = lambda kind, *at: other.do('Input.dispatchTouchEvent', type=kind, touchPoints=[{'x': a, 'y': b} for a, b in at])
    touch('touchStart', (x, y))
    touch('touchMove', (x + side[2] / 2, y))
    other.wait(valve + ' === 3')
    other.picture(os.path.join(pictures, 'serve-driven-390.png'))
    touch('touchEnd')
    other.wait(valve + ' === 0')
    check(not other.complaints and not driver.complaints, (other.complaints, driver.complaints))
    print('%d gauges at %d times' % (sum(n for _, n in compared), len(compared)))
finally:
    browser.close()
    server.terminate()
    server.wait()
