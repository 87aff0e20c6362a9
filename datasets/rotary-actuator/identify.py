#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the figures of rotary-actuator.yaml to two strokes of each actuator and predict the two others.

    identify.py FOLDER [--bramah PROGRAM] [--only ACTUATOR] [--swap] [--figure FILE.svg]

FOLDER holds act1-base-1.tsv and so on. Each evaluation is a run of `bramah simulate` from the state 60 ms into the stroke.
Least squares by Gauss-Newton with damping; standard errors by the sandwich over blocks of 50 ms, as the residuals of
neighbouring samples hang together. Python's own library suffices."""
import argparse
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT = 2 * math.pi / 16384  # [rad] ASSUMED: 14 bits are one turn
BAR = 0.02                   # [bar] per count, ASSUMED
ZERO = 1.01325               # [bar] absolute at 0 counts, ASSUMED
TRAVEL = math.radians(95)
FROM, CLOSED = 60, 1130      # rows: where the prediction starts, where the valve has closed
BLOCK = 50                   # rows
SIGMA = {'angle': 20 * COUNT, 'pressure': 100 * BAR}  # errors a stroke's model is allowed: 0.44 deg, 2 bar

ACTUATORS = {  # training, held out
    'act1': (['base-1', 'base-2'], ['base-3', 'base-4']),
    'act2': (['base-1', 'base-2'], ['base-3', 'base-4']),
    'act3': (['gear-1', 'gear-2'], ['gear-3', 'gear-4']),
    'act4': (['leak-1', 'leak-2'], ['leak-3', 'leak-4']),
}


def mean(values):
    return sum(values) / len(values)


class Stroke:
    """A recording in SI and bar; angle from the lower stop, which `zero` [counts] is, if known."""

    def __init__(self, folder, name):
        with open(os.path.join(folder, name + '.tsv'), encoding='ascii') as file:
            rows = [line.rstrip('\n').split('\t') for line in file]
        columns = [rows[0].index(c) for c in ('Angle', 'PG_1', 'PG_2')]
        self.name = name
        self.counts, *ports = [[float(row[c]) for row in rows[1:]] for c in columns]
        self.ports = [[ZERO + BAR * value for value in port] for port in ports]
        self.up = self.counts[-1] > self.counts[0]
        self.end = mean(self.counts[1000:1100])  # the stop, under pressure
        self.supply = mean(self.ports[0 if self.up else 1][800:1100])
        self.stopped = next(i for i in range(len(self.counts)) if abs(self.counts[i] - self.end) < 15)

    def place(self, stops):
        """stops: counts at the lower and upper stop; None where there is only this stroke to tell."""
        lower, upper = stops
        stop = upper if self.up else lower
        own = self.end if stop is None else stop
        zero = own - TRAVEL / COUNT if self.up else own
        self.angle = [COUNT * (value - zero) for value in self.counts]

    def start(self):
        """Angle and rate by a line through 21 rows, pressures by a mean of 11."""
        near = range(FROM - 10, FROM + 11)
        rate = sum((i - FROM) * self.angle[i] for i in near) / sum((i - FROM) ** 2 for i in near) * 1e3
        return (mean([self.angle[i] for i in near]), rate,
                *[mean(port[FROM - 5:FROM + 6]) for port in self.ports])


class Program:
    def __init__(self, path):
        self.path = path
        self.runs = 0

    def simulate(self, figures, stroke, output):
        angle, rate, p1, p2 = stroke.start()
        command = 10 if stroke.up else -10
        closed = (CLOSED - FROM) * 1e-3
        settings = {
            'joints.shaft.initial': f'{angle} rad', 'joints.shaft.rate': f'{rate} rad/s',
            'hydraulics.volumes.port_1.pressure': f'{p1} bar', 'hydraulics.volumes.port_2.pressure': f'{p2} bar',
            'hydraulics.supplies.pump.pressure': f'{stroke.supply} bar',
            'hydraulics.valves.valve.spool': f'{command} V',
            'inputs.valve': f'[[0 s, {command} V], [{closed} s, 0 V]]', **machine_changes(figures)}
        arguments = [self.path, 'simulate', os.path.join(HERE, 'rotary-actuator.yaml'), '--duration',
                     f'{(len(stroke.angle) - 1 - FROM) * 1e-3:.3f}', '--output', output]
        for path, value in settings.items():
            arguments += ['--set', f'{path}={value}']
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        self.runs += 1
        if done.returncode:
            raise ArithmeticError(done.stderr)
        with open(output, encoding='ascii') as file:
            header = file.readline().split(',')
            wanted = [next(i for i, h in enumerate(header) if h.startswith(c))
                      for c in ('shaft.angle', 'port_1.pressure', 'port_2.pressure')]
            rows = [[float(line[i]) for i in wanted] for line in (row.split(',') for row in file)]
        return [[None] * FROM + [row[k] * unit for row in rows] for k, unit in ((0, 1.0), (1, 1e-5), (2, 1e-5))]


def machine_changes(figures):
    """Paths of the machine file and values with units."""
    valve = 'hydraulics.valves.valve.port_characteristics.'
    changes = {}
    for name, value in figures.items():
        if name in ('pump_a', 'b_tank'):
            changes[valve + name] = f'[[0 V, 0 V], [10 V, {value:.6g} V]]'
        elif name in ('a_tank', 'pump_b'):
            changes[valve + name] = f'[[-10 V, {value:.6g} V], [0 V, 0 V]]'
        elif name == 'coulomb':
            friction = 'hydraulics.rotary_actuators.actuator.friction.'
            changes[friction + 'coulomb'] = f'{value:.6g} N*m'
            changes[friction + 'static'] = f'{1.01 * value:.6g} N*m'
        elif name == 'bulk_modulus':
            changes['hydraulics.oil.bulk_modulus'] = f'{value:.6g} MPa'
        elif name == 'seal':
            changes['hydraulics.leakages.seal.conductance'] = f'{value:.6g}e-15 m^3/s/Pa'
        elif name == 'spool':
            for port in ('spool_1', 'spool_2'):
                changes[f'hydraulics.leakages.{port}.conductance'] = f'{value:.6g}e-15 m^3/s/Pa'
    return changes


UNITS = {'pump_a': 'V', 'b_tank': 'V', 'a_tank': 'V', 'pump_b': 'V', 'coulomb': 'N m', 'bulk_modulus': 'MPa',
         'seal': '1e-15 m^3/s/Pa', 'spool': '1e-15 m^3/s/Pa'}


def fitted_rows(stroke):
    """The stroke up to 10 ms before the stop, then from 0.7 s on, every 10th row. The ringing about the stop is left out."""
    return list(range(FROM, stroke.stopped - 10)) + list(range(700, len(stroke.angle), 10))


def residuals(stroke, run):
    """[(block, residual)]: a sensor that shows nothing below 0 counts is compared with a model that does not either."""
    out = []
    for i in fitted_rows(stroke):
        if i < stroke.stopped:
            out.append((i // BLOCK, (run[0][i] - stroke.angle[i]) / SIGMA['angle']))
        for port in (0, 1):
            out.append((i // BLOCK, (max(run[1 + port][i], ZERO) - stroke.ports[port][i]) / SIGMA['pressure']))
    return out


def solve(matrix, right):
    """Gauss with pivoting; right may have several columns."""
    n = len(matrix)
    rows = [list(matrix[i]) + list(right[i]) for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i, k=k: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return [[value / rows[i][i] for value in rows[i][n:]] for i in range(n)]


class Fit:
    """Logarithms of the figures; all of them are positive."""

    def __init__(self, program, strokes, figures):
        self.program, self.strokes, self.names = program, strokes, list(figures)
        self.x = [math.log(figures[name]) for name in self.names]

    def figures(self, x=None):
        return {name: math.exp(value) for name, value in zip(self.names, self.x if x is None else x)}

    def residuals(self, x):
        out = []
        for k, stroke in enumerate(self.strokes):
            run = self.program.simulate(self.figures(x), stroke, self.program.scratch)
            out += [((k, block), r) for block, r in residuals(stroke, run)]
        return out

    def jacobian(self, r):
        columns, step = [], 1e-3
        for j in range(len(self.x)):
            sides = []
            for sign in (1, -1):
                x = list(self.x)
                x[j] += sign * step
                sides.append(self.residuals(x))
            columns.append([(a[1] - b[1]) / (2 * step) for a, b in zip(*sides)])
        return columns

    def run(self, rounds=12):
        damping, r = 1e-3, self.residuals(self.x)
        for _ in range(rounds):
            columns = self.jacobian(r)
            normal = [[sum(a * b for a, b in zip(u, v)) for v in columns] for u in columns]
            slope = [sum(a * b[1] for a, b in zip(u, r)) for u in columns]
            before = sum(value * value for _, value in r)
            while True:
                damped = [[v * (1 + damping) if i == j else v for j, v in enumerate(row)] for i, row in enumerate(normal)]
                step = [-s[0] for s in solve(damped, [[s] for s in slope])]
                step = [max(-0.5, min(0.5, s)) for s in step]
                x = [a + b for a, b in zip(self.x, step)]
                try:
                    trial = self.residuals(x)
                    after = sum(value * value for _, value in trial)
                except ArithmeticError:
                    after = math.inf
                if after <= before or damping > 1e6:
                    break
                damping *= 10
            if after <= before:
                self.x, r = x, trial
            damping = max(damping / 10, 1e-9)
            if before - after < 1e-5 * before:
                break
        self.cost = math.sqrt(sum(value * value for _, value in r) / len(r))
        self.sandwich(self.jacobian(r), r)

    def sandwich(self, columns, r):
        n = len(self.x)
        scores = {}
        for i, (block, value) in enumerate(r):
            score = scores.setdefault(block, [0.0] * n)
            for j in range(n):
                score[j] += columns[j][i] * value
        meat = [[sum(s[i] * s[j] for s in scores.values()) for j in range(n)] for i in range(n)]
        normal = [[sum(a * b for a, b in zip(u, v)) for v in columns] for u in columns]
        half = solve(normal, meat)
        covariance = solve(normal, [list(row) for row in zip(*half)])
        self.error = [math.sqrt(max(0.0, covariance[j][j])) for j in range(n)]  # of the logarithm: relative


def rms(values):
    return math.sqrt(mean([v * v for v in values])) if values else math.nan


def errors(stroke, run):
    """Moving: angle [deg] RMS, at the end, time of the stop [ms], pressures [bar]. Then pressures about the stop, held and closed."""
    moving = range(FROM, stroke.stopped - 10)
    angle = [math.degrees(run[0][i] - stroke.angle[i]) for i in moving]
    stop = TRAVEL if stroke.up else 0.0
    reached = next((i for i in range(FROM, len(run[0])) if abs(run[0][i] - stop) < 15 * COUNT), len(run[0]))

    def port(k, rows):
        return rms([max(run[1 + k][i], ZERO) - stroke.ports[k][i] for i in rows])

    phases = [moving, range(stroke.stopped - 10, stroke.stopped + 150), range(700, CLOSED - 10), range(CLOSED + 20, 3000)]
    return [rms(angle), angle[-1], float(reached - stroke.stopped)] + [port(k, rows) for rows in phases for k in (0, 1)]


def same_again(stroke, trained):
    """Angle RMS [deg] of the guess that the stroke goes as the first one of that direction that was seen."""
    other = next((s for s in trained if s.up == stroke.up), None)
    if other is None or other is stroke:
        return math.nan
    shift = stroke.start()[0] - other.start()[0]
    return rms([math.degrees(other.angle[i] + shift - stroke.angle[i]) for i in range(FROM, stroke.stopped - 10)])


def stops_of(actuator, strokes):
    """Actuator 4 was mounted anew or its encoder set between strokes: each stroke has its own stop."""
    if actuator == 'act4':
        return None, None
    lower = [s.end for s in strokes if not s.up]
    upper = [s.end for s in strokes if s.up]
    return (mean(lower) if lower else None), (mean(upper) if upper else None)


def first_guess(strokes):
    figures = {}
    if any(s.up for s in strokes):
        figures.update(pump_a=14.4, b_tank=12.5)
    if any(not s.up for s in strokes):
        figures.update(pump_b=14.4, a_tank=12.5)
    figures.update(coulomb=60.0, bulk_modulus=600.0, seal=2.0, spool=10.0)
    return figures


# ---- figure ----

UNTIL = 700  # rows
PANEL = (430, 190, 48, 24)  # width, height, margins left and below


def panel(x, y, title, unit, top, lines):
    """lines: (colour, dashed, values by row). Axes from 0 to `top` and over the time."""
    width, height, left, below = PANEL
    inner = (width - left - 10, height - below - 20)

    def point(i, value):
        return f'{x + left + inner[0] * i / UNTIL:.1f},{y + 20 + inner[1] * (1 - value / top):.1f}'

    out = [f'<text x="{x + left}" y="{y + 13}">{title}</text>',
           f'<path d="M{point(0, top)} L{point(0, 0)} L{point(UNTIL, 0)}" fill="none" stroke="#555"/>']
    for k in range(5):
        value = top * k / 4
        at = point(0, value).split(',')
        out.append(f'<text x="{x + left - 5}" y="{float(at[1]) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for i in range(0, UNTIL + 1, 100):
        at = point(i, 0).split(',')
        out.append(f'<text x="{at[0]}" y="{float(at[1]) + 15:.1f}" text-anchor="middle">{i / 1000:g}</text>')
    out.append(f'<text x="{x + width - 10}" y="{y + 13}" text-anchor="end">{unit} over s</text>')
    for colour, dashed, values in lines:
        points = ' '.join(point(i, min(max(values[i], 0.0), top)) for i in range(0, UNTIL, 3) if values[i] is not None)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"'
                   + (' stroke-dasharray="6 3"/>' if dashed else '/>'))
    return out


def figure(path, runs):
    """Measured solid, predicted dashed; a row of panels for each stroke."""
    width, height = PANEL[:2]
    size = f'width="{2 * width}" height="{height * len(runs)}"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    for row, (stroke, run) in enumerate(runs):
        degrees = [[None if v is None else math.degrees(v) for v in series] for series in (stroke.angle, run[0])]
        out += panel(0, row * height, f'{stroke.name}: angle', 'deg', 100,
                     [('#000000', False, degrees[0]), ('#d55e00', True, degrees[1])])
        ports = [('#0072b2', False, stroke.ports[0]), ('#0072b2', True, run[1]),
                 ('#009e73', False, stroke.ports[1]), ('#009e73', True, run[2])]
        out += panel(width, row * height, 'port 1 (blue), port 2 (green)', 'bar', 200, ports)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(out + ['</svg>', '']))


# ---- tables ----

def print_figures(fit):
    for name, value in fit.figures().items():
        relative = fit.error[fit.names.index(name)]
        print(f'  {name:13s} {value:9.4g} ± {value * relative:.2g} {UNITS[name]}')


TITLE = """\
  errors                    | stroke, from 60 ms to the stop              | about stop  | held        | closed
                     supply | angle RMS, end, as before  stop      p1    p2 |    p1    p2 |    p1    p2 |    p1    p2
                        bar |       deg   deg       deg    ms     bar   bar |   bar   bar |   bar   bar |   bar   bar"""


def print_errors(name, role, stroke, e, before):
    print(f'  {name:7s} {role} {stroke.supply:7.1f} | {e[0]:9.2f} {e[1]:5.2f} {before:9.2f} {e[2]:5.0f} {e[3]:7.2f} {e[4]:5.2f} |'
          + ' |'.join(f' {e[k]:5.2f} {e[k + 1]:5.2f}' for k in (5, 7, 9)))


def study(options, program, actuator, training, held_out):
    strokes = {n: Stroke(options.folder, f'{actuator}-{n}') for n in training + held_out}
    trained = [strokes[n] for n in training]
    stops = stops_of(actuator, trained)
    for stroke in strokes.values():
        stroke.place(stops)
    fit = Fit(program, trained, first_guess(trained))
    fit.run()
    print(f'{actuator}: fitted to {", ".join(training)}; RMS residual {fit.cost:.2f} of what was allowed')
    print_figures(fit)
    print(TITLE)
    shown = []
    for name, stroke in strokes.items():
        if {True: 'pump_a', False: 'pump_b'}[stroke.up] not in fit.names:
            print(f'  {name:7s} the other direction was not seen')
            continue
        run = program.simulate(fit.figures(), stroke, program.scratch)
        role = 'training' if name in training else 'held out'
        print_errors(name, role, stroke, errors(stroke, run), same_again(stroke, trained))
        if name in held_out:
            shown.append((stroke, run))
    if options.figure:
        figure(options.figure, shown)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder')
    parser.add_argument('--bramah', default='bramah')
    parser.add_argument('--only', help='one actuator')
    parser.add_argument('--swap', action='store_true', help='fit to the strokes that are else held out')
    parser.add_argument('--figure', help='SVG of the held out strokes; with --only')
    options = parser.parse_args()
    program = Program(options.bramah)
    with tempfile.TemporaryDirectory() as scratch:
        program.scratch = os.path.join(scratch, 'run.csv')
        for actuator, (training, held_out) in ACTUATORS.items():
            if options.only in (None, actuator):
                pair = (held_out, training) if options.swap else (training, held_out)
                study(options, program, actuator, *pair)


if __name__ == '__main__':
    main()
