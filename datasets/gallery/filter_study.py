"""The same filter three times: with bramah, with FilterPy where it is installed, and with matrices as one writes them in MATLAB. A
pendulum, angle measured: the same numbers, and what a step takes.

usage: python3 filter_study.py"""
import time

import numpy as np

import bramah

H, G, SIGMA, DENSITY, N = 0.002, 9.81, 0.02, 0.3, 2000
x0, P0 = np.array([0.4, 0.0]), np.diag([0.1**2, 0.2**2])
rng, truth = np.random.default_rng(1), np.array([0.5, 0.0])


def advance(x):
    """A step of the pendulum, and its derivative."""
    F = np.array([[1 - H * H * G * np.cos(x[0]), H], [-H * G * np.cos(x[0]), 1.0]])
    x[1] -= H * G * np.sin(x[0])
    x[0] += H * x[1]
    return F


samples = np.array([(advance(truth), truth[0] + SIGMA * rng.standard_normal())[1] for _ in range(N)])
noise = DENSITY * np.array([[H / 2], [1.0]])  # of a step: a spectral density that comes evenly over it


# ---- bramah: what it is made of and how it moves; the filter is the library's
class Pendulum(bramah.Plant):
    step_length, n_dof, states = H, 1, {"angle": "rad", "rate": "rad/s"}

    def step(self):
        advance(self.x)

    def step_transition(self, F, N_, par, G_):
        F[:] = advance(self.x)
        if N_ is not None:
            N_[:] = noise / DENSITY


def with_bramah():
    plant = Pendulum()
    plant.x[:] = x0
    f = bramah.Filter(plant, [bramah.Sensor("angle", SIGMA)], position_sigma=0.1, rate_sigma=0.2, acceleration_noise=DENSITY,
                      alarm=False, outputs=["angle", "rate"])
    return np.array([(f.step(None, None, [y]), *np.ravel(f.estimate()))[1:] for y in samples])


# ---- matrices
def with_matrices():
    x, P, Q, R, Hm, out = x0.copy(), P0.copy(), H * noise @ noise.T, SIGMA**2, np.array([[1.0, 0.0]]), []
    for y in samples:
        F = advance(x)
        P = F @ P @ F.T + Q
        S = Hm @ P @ Hm.T + R
        K = P @ Hm.T / S
        x += (K * (y - x[0])).ravel()
        P = (np.eye(2) - K @ Hm) @ P @ (np.eye(2) - K @ Hm).T + K * R @ K.T
        out.append([*x, *np.sqrt(np.diag(P))])
    return np.array(out)


# ---- FilterPy
def with_filterpy():
    from filterpy.kalman import ExtendedKalmanFilter
    f, out = ExtendedKalmanFilter(2, 1), []
    f.x, f.P, f.Q, f.R = x0[:, None].copy(), P0.copy(), H * noise @ noise.T, np.array([[SIGMA**2]])
    for y in samples:
        x = f.x.ravel().copy()
        f.F = advance(x)
        f.predict_x = lambda u=0, x=x: setattr(f, "x", x[:, None])
        f.predict()
        f.update(np.array([[y]]), lambda x: np.array([[1.0, 0.0]]), lambda x: x[:1])
        out.append([*f.x.ravel(), *np.sqrt(np.diag(f.P))])
    return np.array(out)


reference = None
for name, run in (("matrices", with_matrices), ("bramah", with_bramah), ("FilterPy", with_filterpy)):
    begin = time.process_time()
    try:
        estimates = run()
    except ImportError:
        print(f"{name}: not installed")
        continue
    took = 1e6 * (time.process_time() - begin) / N
    reference = estimates if reference is None else reference
    print(f"{name:9} {took:6.1f} us a step; angle at the end {estimates[-1, 0]:.9f} +- {estimates[-1, 2]:.9f} rad; "
          f"largest difference {np.max(np.abs(estimates - reference) / reference[:, 2:].mean(0).repeat(2)[[0, 2, 0, 2]]):.1e} sigma")
