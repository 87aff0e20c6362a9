#!/usr/bin/python3
# The page of `bramah serve` in a real browser: what gauges show is what the filter estimates at that time; pause, seek, a server that goes
# and comes back.
# And do bands cover the truth at their rate? Every frame of some recordings is shown, one after the other, and what each gauge holds then is compared with
# the true motion.
# browser_live.py CHROMIUM STUDY LOG PICTURES LEAST RECORDING TRUTH [RECORDING TRUTH]...
import bisect
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request

from devtools import PATIENCE, Browser, check

chromium, study, log, pictures, least = sys.argv[1:6]
runs = list(zip(sys.argv[6::2], sys.argv[7::2]))
program = os.environ['BRAMAH_PROGRAM']


def serve(port, study=study, source=('--from', log, '--stay')):
    server = subprocess.Popen([program, 'serve', study, *source, '--port', str(port)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    line = server.stdout.readline()
    found = re.match(r'open (http://127.0.0.1:(\d+)/)', line)
    check(found, line)
    return server, found[1], int(found[2])


READ = '''(() => {
  const about = JSON.parse(document.querySelector('#recording').textContent), seek = document.querySelector('#seek'), shown = [];
  const gauges = about.display.gauges.map((g) => [document.querySelector(`[data-name="${g.name}"]`), about.display.outputs[g.output].name]);
  for (const frame of about.frames) {
    seek.value = frame.t;
    seek.dispatchEvent(new Event('input'));
    if (document.documentElement.dataset.t !== String(frame.t)) throw new Error(`shows ${document.documentElement.dataset.t}, not ${frame.t}`);
    for (const [box, output] of gauges)
      if (box.dataset.value !== '' && box.dataset.sigma !== '') shown.push([frame.t, output, Number(box.dataset.value), Number(box.dataset.sigma)]);
  }
  return [about.frames.length, shown];
})()'''


def bands():
    inside, n, worst, frames, exact = {}, {}, {}, 0, 0
    for recording, truth in runs:
        tab = browser.open(pathlib.Path(recording).resolve().as_uri())
        tab.wait("document.documentElement.dataset.t !== undefined")
        many, shown = tab.ask(READ)
        check(not tab.complaints, tab.complaints)
        tab.do('Page.close')
        frames += many
        with open(truth) as file:
            rows = list(csv.reader(file))
        column = {name.split('[')[0]: k for k, name in enumerate(rows[0])}
        times = [float(row[0]) for row in rows[1:]]
        for t, output, value, sigma in shown:
            k = bisect.bisect_left(times, t - 1e-6)
            if sigma <= 1e-9 * abs(value):
                exact += 1  # at a bound: the estimate says nothing of what is beyond
            elif output in column and k < len(times) and abs(times[k] - t) < 1e-6:
                z = abs(value - float(rows[k + 1][column[output]])) / sigma
                n[output] = n.get(output, 0) + 1
                inside[output] = inside.get(output, 0) + (z <= 1.959964)
                worst[output] = max(worst.get(output, 0), z)
    for output in sorted(n):
        print('%-28s %6d values, %5.1f %% inside their band, at most %.2f sigma off' % (output, n[output], 100 * inside[output] / n[output], worst[output]))
    share = sum(inside.values()) / max(sum(n.values()), 1)
    print('%d frames of %d runs: %.1f %% of %d values inside their 95 %% bands, %d without a band' % (frames, len(runs), 100 * share, sum(n.values()), exact))
    check(share >= float(least), 'only %.3f of the values that gauges show are inside their bands, not %s' % (share, least))


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
    # Eight pages at once; a browser has six connections to a name.
    others = [browser.open(address if k < 3 else address.replace('127.0.0.1', 'localhost')) for k in range(7)]
    for other in others:
        other.do('Emulation.setFocusEmulationEnabled', enabled=True)
        other.do('Emulation.setDeviceMetricsOverride', width=400, height=300, deviceScaleFactor=1, mobile=False)  # less to draw
    page.wait("document.querySelector('#verdict').className !== 'none'")  # the log has ended
    for other in others:
        other.wait("document.documentElement.dataset.t === '%s'" % page.ask('document.documentElement.dataset.t'))
    first = page
    for page in others:
        compared.append(compare())
        check(not page.complaints, page.complaints)
        page.do('Page.close')
    page = first

    # What a screen reader is given: the tree that the browser makes of the page.
    tree = [{'role': n['role']['value'], 'name': n.get('name', {}).get('value', ''), 'about': n.get('description', {}).get('value', ''),
             **{p['name']: p['value'].get('value') for p in n.get('properties', [])}} for n in page.do('Accessibility.getFullAXTree')['nodes'] if not n.get('ignored')]

    def told(role, name):
        return next((n for n in tree if n['role'] == role and n['name'].startswith(name)), None)

    for gauge in about['gauges']:
        node = told('group', gauge['label']) or told('figure', gauge['label'])
        shown = page.ask("(() => { const g = document.querySelector('[data-name=\"%s\"]'); return [g.querySelector('b').textContent, g.querySelector('.pm').textContent]; })()" % gauge['name'])
        check(node and all(text in node['about'] for text in shown), (gauge['label'], node, shown))
    for role, name in (('heading', about['title']), ('region', 'Gauges'), ('region', 'Machine'), ('slider', 'Time shown'), ('combobox', 'Speed'), ('button', 'Pause'), ('button', 'Dark'),
                       ('image', 'The machine as the filter has it'), ('image', about['outputs'][about['plots'][0]]['name']), ('link', 'Skip to the gauges'), ('DisclosureTriangle', 'Sensors: ')):
        check(told(role, name), 'no %s named %s in %s' % (role, name, sorted({(n['role'], n['name'][:40]) for n in tree})))
    check(not [n for n in tree if n['role'] in ('button', 'slider', 'combobox', 'link', 'image', 'textbox') and not n['name'].strip()], 'something has no name')
    live = page.ask("[...document.querySelectorAll('[role=alert],[role=status],[aria-live]')].map((e) => [e.id, e.getAttribute('aria-live') || e.getAttribute('role')])")
    check(['alarm', 'alert'] in live and ['said', 'polite'] in live, live)
    # Tab goes through all that can be used, and nothing holds it.
    page.ask("document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        page.do('Input.dispatchKeyEvent', type='keyDown', key='Tab', code='Tab', windowsVirtualKeyCode=9)
        page.do('Input.dispatchKeyEvent', type='keyUp', key='Tab', code='Tab', windowsVirtualKeyCode=9)
        reached.add(page.ask("(document.activeElement.id || document.activeElement.tagName)"))
    check({'look', 'play', 'seek', 'speed', 'scene', 'plot-add', 'SUMMARY'} <= reached, reached)
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
    summary = server.communicate(timeout=PATIENCE)[0].splitlines()[-1]
    check(server.returncode == 130 and int(re.search(r'(\d+) viewers', summary)[1]) >= 8, summary)
    print(summary)
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
                   'drive: {valve: {range: [-4 V, 3 V], keys: [a, d], stick: left_x}}\n'
               'scenario: {tasks: {on: {instruction: Open the valve, end: {valve.command: {above: 1 V}}}, off: {instruction: Close it, end: {valve.command: {below: -9 V}}}}}\n')
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
    # The scenario has its first task behind it; anew it begins with it, for all.
    step = "document.querySelector('#tasks li').dataset.state"
    other.wait(step + " === 'done'")
    driver.ask("document.querySelector('#anew').click()")
    for one in (driver, other):
        one.wait(step + " === 'active' && document.querySelector('#events').textContent.includes('begins anew')")
    # A gamepad: nothing within its play, all the way at its end, and no longer when it is gone.
    driver.ask("window.pad = {connected: true, axes: [0.1, 0, 0, 0]}; navigator.getGamepads = () => [null, window.pad]; 1")
    driver.ask("new Promise((go) => setTimeout(go, 300))")
    check(driver.ask(valve) == 0, 'play of a stick')
    driver.ask("window.pad.axes[0] = -0.5; 1")
    driver.wait(valve + ' === -2')
    driver.ask("window.pad.axes[0] = 1; 1")
    driver.wait(valve + ' === 3')
    driver.ask("window.pad.connected = false; 1")
    driver.wait(valve + ' === 0')
    driver.key('Shift', True)
    driver.key('a', True)
    driver.wait(valve + ' === -4')
    driver.ask("document.querySelector('#plugs button').click()")
    driver.wait("document.querySelector('#bad').textContent.includes('LOST') && document.querySelector('#plugs button').textContent === 'Put it in again'")
    lost = driver.wait("[...document.querySelectorAll('#events li')].map((e) => e.textContent).filter((t) => /\\blost$/.test(t))")
    check(len(lost) == 1, 'a lost sensor is told once: %s' % lost)
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
    bands()
finally:
    browser.close()
    server.terminate()
    server.wait()
