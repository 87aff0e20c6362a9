#!/usr/bin/python3
# The page of `bramah serve` in a real browser: what gauges show is what the filter estimates at that time; pause, seek, a server that goes
# and comes back. Chromium by its DevTools protocol, with the standard library alone.
# browser_live.py CHROMIUM STUDY LOG PICTURES
import base64
import csv
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request

chromium, study, log, pictures = sys.argv[1:]
program = os.environ['BRAMAH_PROGRAM']
PATIENCE = 600  # [s] for what hangs, not for a computer that is busy


def check(condition, what):
    if not condition:
        sys.exit('FAILED: %s' % (what,))


class Page:
    """A tab; a WebSocket with as much of RFC 6455 as it takes."""

    def __init__(self, address):
        host, port, path = re.match(r'ws://([^:/]+):(\d+)(/.*)', address).groups()
        self.socket = socket.create_connection((host, int(port)), PATIENCE)
        self.file = self.socket.makefile('rb')
        self.socket.sendall(('GET %s HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
                             'Sec-WebSocket-Key: %s\r\n\r\n' % (path, host, port, base64.b64encode(os.urandom(16)).decode())).encode())
        while self.file.readline().strip():
            pass
        self.number, self.complaints = 0, []
        for what in ('Runtime', 'Page', 'Log'):
            self.do(what + '.enable')

    def read(self):
        text = b''
        while True:
            head, size = self.file.read(2)
            if size == 126:
                size, = struct.unpack('>H', self.file.read(2))
            elif size == 127:
                size, = struct.unpack('>Q', self.file.read(8))
            text += self.file.read(size)
            if head & 128:
                return json.loads(text)

    def do(self, method, **parameters):
        self.number += 1
        text = json.dumps({'id': self.number, 'method': method, 'params': parameters}).encode()
        head = struct.pack('>BBH', 129, 254, len(text)) if len(text) < 65536 else struct.pack('>BBQ', 129, 255, len(text))
        self.socket.sendall(head + b'\0\0\0\0' + text)
        while True:
            answer = self.read()
            if answer.get('id') == self.number:
                check('error' not in answer, answer)
                return answer['result']
            entry = answer.get('params', {}).get('entry', {})
            if answer.get('method') == 'Runtime.exceptionThrown' or (entry.get('level') == 'error' and entry.get('source') != 'network'):
                self.complaints.append(answer['params'])

    def ask(self, script):
        result = self.do('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        check('exceptionDetails' not in result, (script, result.get('exceptionDetails')))
        return result['result'].get('value')

    def wait(self, script):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.ask(script)
            if value:
                return value
            time.sleep(0.05)
        sys.exit('FAILED: never came: %s; the page says %s' % (script, self.ask('document.body.innerText')))

    def picture(self, name):
        with open(os.path.join(pictures, name + '.png'), 'wb') as file:
            file.write(base64.b64decode(self.do('Page.captureScreenshot', format='png')['data']))


def serve(port):
    server = subprocess.Popen([program, 'serve', study, '--from', log, '--stay', '--port', str(port)], stdout=subprocess.PIPE,
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
browser = subprocess.Popen([chromium, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars',
                            '--window-size=1280,900', '--user-data-dir=' + os.path.abspath('profile'), '--remote-debugging-port=0',
                            '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', address],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
try:
    for line in browser.stderr:
        found = re.search(r'DevTools listening on ws://([^/]+)/', line)
        if found:
            break
    check(found, 'the browser does not run')
    tabs = []
    while not any(tab['url'] == address for tab in tabs):
        with urllib.request.urlopen('http://%s/json' % found[1]) as answer:
            tabs = [tab for tab in json.load(answer) if tab['type'] == 'page']
    page = Page(next(tab['webSocketDebuggerUrl'] for tab in tabs if tab['url'] == address))

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
    page.picture('serve-paused')

    # The server goes, and comes back at the same place.
    server.send_signal(signal.SIGINT)
    check(server.wait(PATIENCE) == 130, 'Ctrl-C')
    page.wait("/CONNECTION LOST|no connection|no values/.test(document.querySelector('#state-text').textContent)")
    page.picture('serve-lost')
    server, address, port = serve(port)
    page.wait("Number(document.documentElement.dataset.t) !== 0.5 && !document.documentElement.classList.contains('old')")
    compared.append(compare())
    check(not page.complaints, page.complaints)
    print('%d gauges at %d times' % (sum(n for _, n in compared), len(compared)))
finally:
    browser.terminate()
    browser.wait()
    server.terminate()
    server.wait()
