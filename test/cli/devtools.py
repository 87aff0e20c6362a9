# Pages in Chromium by its DevTools protocol, with the standard library alone.
import base64
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time

PATIENCE = 200  # [s] for what hangs, not for a computer that is busy


def check(condition, what):
    if not condition:
        sys.exit('FAILED: %s' % (what,))


class Page:
    """A tab; a WebSocket with as much of RFC 6455 as it takes."""

    def __init__(self, address, enabled=('Runtime', 'Page', 'Log')):
        host, port, path = re.match(r'ws://([^:/]+):(\d+)(/.*)', address).groups()
        self.socket = socket.create_connection((host, int(port)), PATIENCE)
        self.file = self.socket.makefile('rb')
        self.socket.sendall(('GET %s HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
                             'Sec-WebSocket-Key: %s\r\n\r\n' % (path, host, port, base64.b64encode(os.urandom(16)).decode())).encode())
        while self.file.readline().strip():
            pass
        self.number, self.complaints = 0, []
        for what in enabled:
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
                if 'execution context' in answer.get('error', {}).get('message', ''):
                    time.sleep(0.05)  # the page is just being loaded
                    return self.do(method, **parameters)
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
            value = self.ask('(() => { try { return %s; } catch (e) { return false; } })()' % script)  # not yet loaded: no
            if value:
                return value
            time.sleep(0.05)
        sys.exit('FAILED: never came: %s; the page says %s' % (script, self.ask('document.body.innerText')))

    def picture(self, path):
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.do('Page.captureScreenshot', format='png')['data']))

    def key(self, key, is_down):
        self.do('Input.dispatchKeyEvent', type='keyDown' if is_down else 'keyUp', key=key, text=key if is_down and len(key) == 1 else '')


class Browser:
    """Chromium; each page that is opened has a window."""

    def __init__(self, chromium, size='1280,900'):
        self.process = subprocess.Popen([chromium, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
                                         '--hide-scrollbars', '--window-size=' + size, '--user-data-dir=' + os.path.abspath('profile'),
                                         '--remote-debugging-port=0', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', 'about:blank'],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = None
        for line in self.process.stderr:
            found = re.search(r'DevTools listening on (ws://([^/]+)/\S+)', line)
            if found:
                break
        check(found, 'the browser does not run')
        self.at, self.whole = found[2], Page(found[1], ())

    def open(self, address):
        target = self.whole.do('Target.createTarget', url=address, newWindow=True)['targetId']  # of two tabs one would be hidden
        return Page('ws://%s/devtools/page/%s' % (self.at, target))

    def close(self):
        self.process.terminate()
        self.process.wait()
