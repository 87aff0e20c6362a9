#!/usr/bin/python3
# What a viewer gets of `bramah serve`, compared with what `bramah replay` writes. By the standard library alone.
import atexit
import csv
import http.client
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import threading

program, study, log = os.environ['BRAMAH_PROGRAM'], sys.argv[1], sys.argv[2]
wrap = os.environ.get('BRAMAH_WRAP', '').split()


def check(condition, what):
    if not condition:
        sys.exit('FAILED: ' + str(what))


signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored, which programs inherit and respect


class Server:
    """The program, begun; its address."""

    def __init__(self, *arguments, **options):
        port = options.pop('port', 0)
        self.process = subprocess.Popen(wrap + [program, 'serve', study, '--port', str(port), *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **options)
        atexit.register(self.process.kill)  # after a failure

    def ready(self):
        self.line = self.process.stdout.readline()
        found = re.match(r'open http://([^:]+):(\d+)/(?:\?token=([0-9a-f]{32}))? ', self.line)
        check(found, self.line or self.process.stderr.read())
        self.port, self.token = int(found[2]), found[3]
        return self

    def ask(self, method, path, body=None, **headers):
        c = http.client.HTTPConnection('127.0.0.1', self.port)
        c.request(method, path, body, {'Host': 'localhost:%d' % self.port, **headers})
        answer = c.getresponse()
        text = answer.read().decode()
        c.close()
        return answer.status, text, answer.headers

    def control(self, **what):
        status, text, _ = self.ask('POST', '/control', json.dumps(what), **{'Content-Type': 'application/json'})
        check(status == 204, text)

    def events(self, **headers):
        """Each event as (id, name, data), as it comes."""
        c = http.client.HTTPConnection('127.0.0.1', self.port)
        c.request('GET', '/events', headers={'Host': 'localhost:%d' % self.port, **headers})
        answer = c.getresponse()
        check(answer.status == 200, answer.status)
        event = {}
        for line in answer:
            line = line.decode().rstrip('\n')
            if line:
                name, _, value = line.partition(':')
                event[name] = value.strip()
            elif 'event' in event:
                yield event.get('id'), event['event'], json.loads(event['data'])
                event = {}

    def end(self, code):
        out, err = self.process.communicate(timeout=600)
        check(self.process.returncode == code, 'exit code %d, not %d: %s%s' % (self.process.returncode, code, out, err))
        return out, err


# ---- what replay says ----

subprocess.run(wrap + [program, 'replay', study, log, '--output', 'replayed.csv', '--json', 'replayed.json'], check=True,
               stdout=subprocess.DEVNULL)
with open('replayed.csv') as file:
    rows = list(csv.reader(file))
names, table = rows[0], {float(row[0]): row for row in rows[1:]}
last = max(table)
with open('replayed.json') as file:
    verdict = json.load(file)['verdict']


def compare(frame, outputs):
    """The values of a frame are those of the file, to all digits that are there."""
    t = round(frame['t'], 9)
    check(t in table, t)
    for i, output in enumerate(outputs):
        for values, ending, digits in ((frame['values'], '', 10), (frame['sigmas'], '.sigma', 6)):
            at = [k for k, name in enumerate(names) if name.split('[')[0] == output['name'] + ending]
            if not at:
                continue
            text = table[t][at[0]]
            check(float('%.*g' % (digits, values[i])) == float(text), '%s at %g: %r, %s' % (output['name'], t, values[i], text))


# ---- a log: frames, pause, speed, seek, verdict, exit code ----

server = Server('--from', log).ready()
server.control(pause=True)
status, text, headers = server.ask('GET', '/display.json')
outputs = json.loads(text)['outputs']
check(status == 200 and headers['X-Content-Type-Options'] == 'nosniff', headers)
for path in ('/', '/page.css', '/page.js'):
    status, text, headers = server.ask('GET', path)
    check(status == 200 and "'unsafe" not in headers['Content-Security-Policy'], path)
for path in ('/etc/passwd', '/../' + log, '/' + log, '/display.yaml'):
    check(server.ask('GET', path)[0] == 404, path)
check(server.ask('GET', '/', Host='evil.example')[0] == 421, 'a foreign name')
check(server.ask('POST', '/control', '{"pause": true}', Origin='http://evil.example')[0] == 403, 'a foreign page')
events = server.events()
state = next(data for _, name, data in events if name == 'state')
check(state['source'] == 'log' and state['can'] == ['pause', 'speed', 'seek'] and math.isclose(state['end'], last), state)
server.control(seek=0.7)
seen, sought = 0, False
for id_, name, data in events:
    sought |= name == 'state' and data.get('seek') == 0.7
    if name == 'frame':
        compare(data, outputs)
        if sought:
            break
check(sought and data['t'] == 0.7, 'sought 0.7 s, came to %g s' % data['t'])
server.control(seek=0.2)
server.control(speed=4)
server.control(pause=False)
told = None
for id_, name, data in events:
    if name == 'frame':
        seen += 1
        compare(data, outputs)
        shown = data['t']
    told = data if name == 'verdict' else told
check(seen > 1 and math.isclose(shown, last), 'the last frame is at %g s' % shown)
check(told and told['text'].startswith(verdict), (told, verdict))
out, err = server.end(0)
check('verdict: ' + told['text'] in out, out)

# ---- restarted at the same place: who comes again goes on, with what he saw last ----

first = Server('--from', log, '--stay').ready()
id_ = next(i for i, name, _ in first.events() if name == 'frame')
first.process.send_signal(signal.SIGINT)
first.end(130)
second = Server('--from', log, '--stay', port=first.port).ready()
events = second.events(**{'Last-Event-ID': id_})
came, name, data = next(e for e in events if e[1] == 'frame')
check(int(came) > int(id_), (came, id_))
compare(data, outputs)
taken = Server('--from', log, port=second.port)
check('port' in taken.end(1)[1], 'a port that is in use')
second.control(speed=1000)
next(e for e in events if e[1] == 'verdict')
second.control(seek=0.1)
check(next(e for e in events if e[1] == 'frame' and e[2]['t'] < 0.5), 'back from the end')
second.process.send_signal(signal.SIGTERM)
second.end(143)

# ---- lines as they come ----

with open(log) as file:
    lines = file.readlines()
stream = Server('--from', '-', stdin=subprocess.PIPE)
stream.process.stdin.write(''.join(lines[:200]))
stream.process.stdin.flush()
stream.ready()
events = stream.events()
compare(next(data for _, name, data in events if name == 'frame'), outputs)
check(stream.ask('POST', '/control', '{"pause": true}')[0] == 409, 'a pause of what is live')
stream.process.stdin.write(''.join(lines[200:]))
stream.process.stdin.close()
stream.process.stdin = None
check(next(data for _, name, data in events if name == 'verdict')['text'] == told['text'], 'the same log')
stream.end(0)

# ---- datagrams: 10 lines each, one is lost, one late ----

probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
probe.bind(('127.0.0.1', 0))
port = probe.getsockname()[1]
probe.close()
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def send(number, some):
    sender.sendto(('# %d\n' % number + ''.join(some)).encode(), ('127.0.0.1', port))


udp = Server('--from', 'udp:%d' % port)
check('waiting' in udp.process.stderr.readline(), 'it says that it waits')
parts = [lines[i:i + 10] for i in range(1, len(lines), 10)]
parts[0].insert(0, lines[0])
order = [k for k in range(len(parts)) if k != 50]
order[30], order[31] = order[31], order[30]
for number in order:
    send(number, parts[number])
udp.ready()
events = udp.events()
check(next(data for _, name, data in events if name == 'frame'), 'a frame')
sender.sendto(b'', ('127.0.0.1', port))
check(next(data for _, name, data in events if name == 'verdict'), 'a verdict')
out, err = udp.end(0)
check('datagrams: 99 used, 2 lost, 1 late, 0 of no use' in out or 'datagrams: 98 used, 2 lost, 1 late, 0 of no use' in out, out)

# The same as a replay: the estimates of the file, bit for bit.
live = subprocess.Popen(wrap + [program, 'replay', study, 'udp:%d' % port, '--output', '-'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
check('waiting' in live.stderr.readline(), 'it says that it waits')
for k in range(20):
    send(k, ([lines[0]] if k == 0 else []) + lines[1 + 5 * k:6 + 5 * k])
sender.sendto(b'', ('127.0.0.1', port))
out, err = live.communicate(timeout=60)
recorded = subprocess.run(wrap + [program, 'replay', study, '-', '--output', '-'], input=''.join(lines[:101]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
check(live.returncode == recorded.returncode and out == recorded.stdout and out.count('\n') == 101, err)
check('datagrams: 20 used, 0 lost, 0 late, 0 of no use' in err, err)

# ---- the study's own machine; opened to the network ----

machine = Server('--from', 'simulator', '--network').ready()
check(machine.token, machine.line)
check(machine.ask('GET', '/')[0] == 401 and machine.ask('GET', '/events')[0] == 401, 'without the token')
check(machine.ask('GET', '/?token=' + machine.token[:-1] + 'x')[0] == 401, 'with a wrong one')
status, _, headers = machine.ask('GET', '/?token=' + machine.token)
check(status == 303 and 'HttpOnly' in headers['Set-Cookie'] and headers['Location'] == '/', headers)
cookie = headers['Set-Cookie'].split(';')[0]
check(machine.ask('GET', '/', Cookie=cookie)[0] == 200, 'with the cookie')
frames = (data for _, name, data in machine.events(Cookie=cookie) if name == 'frame')
begin = next(frames)
check(next(frames)['t'] > begin['t'], 'it moves')
check(machine.ask('POST', '/control', '{"seek": 0}', Cookie=cookie)[0] == 409, 'no way back')
machine.process.send_signal(signal.SIGINT)
machine.end(130)
with open('commands.csv', 'w') as file:
    file.write('t[s],valve.command[V]\n0,3\n')
driven = Server('--from', 'simulator:commands.csv').ready()
about = json.loads(driven.ask('GET', '/display.json')[1])
at = [output['name'] for output in about['outputs']].index('valve.command')
check(next(data for _, name, data in driven.events() if name == 'frame')['values'][at] == 3, 'the command of the log')
driven.process.send_signal(signal.SIGHUP)
driven.end(129)

# ---- driven, in one process and in two; what was recorded replays to the same bits ----


def first(events, wanted, what):
    for _, name, data in events:
        if wanted(name, data):
            return data
    sys.exit('FAILED: never came: ' + what)


def drive(server, about):
    """Turn the valve on, let go without a word; frames that were seen."""
    at = [output['name'] for output in about['outputs']].index('valve.command')
    seen, going = [], threading.Event()

    def keep_saying():
        while not going.wait(0.05):
            server.control(drive=[99], driver=17)

    def kept():
        for id_, name, data in server.events():
            seen.extend([data] if name == 'frame' else [])
            yield id_, name, data

    def wait(wanted, what):
        first(events, lambda name, data: name == 'frame' and wanted(data), what)

    events = kept()
    wait(lambda data: data['values'][at] == 0, 'neutral before anybody drives')
    driver = threading.Thread(target=keep_saying)
    driver.start()
    first(events, lambda name, data: name == 'state' and data['driver'] == 17, 'who drives')
    wait(lambda data: data['values'][at] == about['drive'][0]['high'], 'the end of the range')
    server.control(drive=[-1], driver=18)  # another one, who has to wait
    server.control(unplug=0)
    wait(lambda data: data['sensors'][0] == 'lost', 'a plug that is pulled')
    check(not any(data['values'][at] == -1 for data in seen), 'two drivers')
    going.set()
    driver.join()
    wait(lambda data: data['values'][at] == 0, 'neutral, since nobody is there')
    server.control(plug=0)
    wait(lambda data: data['sensors'][0] == 'used', 'the plug is in again')
    return seen


def again(file, seen):
    """The same numbers at the same times."""
    played = Server('--from', file, '--stay').ready()
    played.control(pause=True)
    events = played.events()
    for frame in (seen[0], seen[len(seen) // 3], seen[len(seen) // 2], seen[-1]):
        played.control(seek=frame['t'])
        first(events, lambda name, data: name == 'state' and data.get('seek') == frame['t'], 'a seek')
        same = first(events, lambda name, data: name == 'frame' and data['t'] == frame['t'], 'the frame')
        for what in ('values', 'sigmas', 'bodies', 'probability'):
            check(same[what] == frame[what], '%s at %g s' % (what, frame['t']))
    played.process.send_signal(signal.SIGINT)
    played.end(130)


with open('levers.yaml', 'w') as file:
    file.write('display: levers\ngauges: {crank: {kind: number, output: crank.angle, unit: deg}}\n'
               'drive: {valve: {range: [-4 V, 3 V], keys: [a, d]}}\n')
with open(study) as file:
    text = file.read()
study = 'levers-study.yaml'
with open(study, 'w') as file:
    file.write('display: levers.yaml\n' + text)
server = Server('--from', 'simulator', '--drive', '--log', 'driven.csv').ready()
about = json.loads(server.ask('GET', '/display.json')[1])
check(server.ask('POST', '/control', '{"drive": [1], "driver": 1}', Origin='http://evil.example')[0] == 403, 'a foreign page drives')
shown = drive(server, about)
server.process.send_signal(signal.SIGINT)
server.process.wait()
again('driven.csv', shown)

# From the simulator to a relay, which writes it down, to the filter; commands the other way by the relay.
relay = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
while True:
    relay[0].bind(('127.0.0.1', 0))
    port = relay[0].getsockname()[1]
    try:
        relay[1].bind(('127.0.0.1', port + 3))
        break
    except (OSError, OverflowError):
        relay = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
server = Server('--from', 'udp:%d' % (port + 2), '--drive')
check('waiting' in server.process.stderr.readline(), 'it says that it waits')
simulator = subprocess.Popen(wrap + [program, 'simulate', study, '--log', 'udp:%d' % port, '--drive'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
atexit.register(simulator.kill)
recorded = open('recorded.csv', 'wb')


def pass_on():
    began = False
    while True:
        lines = relay[0].recv(65536)
        relay[0].sendto(lines, ('127.0.0.1', port + 2))
        rows = lines.split(b'\n', 1)[1] if lines else b''
        if rows.startswith(b't') and began:
            rows = rows.split(b'\n', 1)[1]
        began = began or bool(rows)
        recorded.write(rows)
        if not lines:
            return recorded.close()


def pass_back():
    while True:
        relay[1].sendto(relay[1].recv(65536), ('127.0.0.1', port + 1))


relays = [threading.Thread(target=what, daemon=True) for what in (pass_on, pass_back)]
for thread in relays:
    thread.start()
shown = drive(server.ready(), about)
simulator.send_signal(signal.SIGINT)
simulator.communicate(timeout=600)
relays[0].join(600)
server.process.communicate(timeout=600)
again('recorded.csv', shown)
print('%d frames compared' % seen)
