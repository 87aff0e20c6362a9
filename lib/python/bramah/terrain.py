# SPDX-License-Identifier: GPL-3.0-or-later
"""Soil that moves, for simulations: a field that slumps, blades that cut it, particles in buckets."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import Error, InputError, Record, array_of, check, index_of, owned, record, view

_RULES = ("neutral", "excess", "printed")


def _set(struct: Any, values: Mapping[str, Any], what: str) -> None:
    names = [name for name, _ in ffi.typeof(struct).item.fields]
    for name, value in values.items():
        index_of(name, names, what)
        setattr(struct, name, index_of(value, _RULES, "rule") if name == "rule" else value)


class Tool:
    """A bucket or blade in a frame of its own [m], as bramah_tool.

    plates: polygons [3 to 8 x 3], flat and convex; edge: its left and right end as seen along the cut; blade: from the edge up
    along the blade; points [n x 3] press on the field with `stiffness` [N/m^1.5]."""

    def __init__(self, plates: Sequence[Any] = (), edge: Optional[Any] = None, blade: Optional[Any] = None,
                 points: Sequence[Any] = (), stiffness: float = 0.0):
        if (edge is None) != (blade is None):
            raise InputError("an edge needs a blade, and a blade an edge", "E_ARGUMENT", thing="edge")
        self.plates = [np.array(p, np.float64).reshape(-1, 3) for p in plates]
        self.edge = None if edge is None else array_of(edge, 6, "edge").reshape(2, 3)
        self.blade = None if blade is None else array_of(blade, 3, "blade")
        self.points = np.array(points, np.float64).reshape(-1, 3)
        self.stiffness = stiffness

    def _fill(self, tool: Any) -> Any:
        for plate in self.plates:
            if len(plate) > lib.BRAMAH_PLATE_CORNERS:
                raise InputError(f"a plate has at most {lib.BRAMAH_PLATE_CORNERS} corners", "E_VALUE", thing="plate")
        plates = ffi.new("bramah_plate[]", [{"n_corners": len(p), "corner": p.tolist()} for p in self.plates])
        points = ffi.new("double[]", self.points.ravel().tolist())
        tool.n_plates, tool.plates = len(self.plates), plates
        tool.n_points, tool.points, tool.stiffness = len(self.points), points, self.stiffness
        if self.edge is not None and self.blade is not None:
            tool.has_edge, tool.edge, tool.blade = 1, self.edge.tolist(), self.blade.tolist()
        return plates, points


def cut_force(depth: float, width: float, rake: float, surcharge: float = 0.0, *, gravity: float = 9.81,
              **soil: float) -> Record:
    """What the soil before a blade resists with: bramah_cut_force by the fundamental equation of earth-moving. SI; soil:
    members of bramah_soil (friction=0.6), dry sand otherwise."""
    of, out, diag = ffi.new("bramah_soil *"), ffi.new("bramah_cut_force *"), ffi.new("bramah_diag *")
    lib.bramah_soil_default(of)
    _set(of, soil, "property of soil")
    cut = ffi.new("bramah_cut *", {"depth": depth, "width": width, "rake": rake, "surcharge": surcharge})
    check(lib.bramah_soil_cut(of, gravity, cut, diag, out), diag)
    return record(out)


class Terrain:
    """A field of nx x ny columns of side `cell` [m], z up, and what moves on it; bramah/terrain.h explains everything.

    tools: what place() moves, by their number; soil: members of bramah_soil; options: members of bramah_terrain_options
    (rule="neutral", "excess" or "printed", max_particles=500, ...)."""

    def __init__(self, nx: int, ny: int, cell: float, tools: Sequence[Tool] = (),
                 soil: Optional[Mapping[str, float]] = None, **options: Any):
        o, out, diag = (ffi.new(f"bramah_{n} *") for n in ("terrain_options", "terrain *", "diag"))
        lib.bramah_terrain_options_default(o)
        _set(o, options, "option")
        soil_of = ffi.addressof(o, "soil")
        _set(soil_of, soil or {}, "property of soil")
        o.nx, o.ny, o.cell, o.n_tools = nx, ny, cell, len(tools)
        o.tools = array = ffi.new("bramah_tool[]", len(tools))
        _kept = [tool._fill(array[i]) for i, tool in enumerate(tools)]
        check(lib.bramah_terrain_new(o, diag, out), diag)
        self._terrain, self._diag = owned(out[0], lib.bramah_terrain_free), diag
        self.shape, self.cell, self.origin, self.radius = (nx, ny), float(cell), tuple(o.origin), float(o.radius)

    @classmethod
    def _of(cls, terrain: Any, options: Any, owner: Any) -> "Terrain":
        self = cls.__new__(cls)
        self._terrain, self._owner, self._diag = terrain, owner, ffi.new("bramah_diag *")
        self.shape, self.cell = (options.nx, options.ny), float(options.cell)
        self.origin, self.radius = tuple(options.origin), float(options.radius)
        return self

    @property
    def heights(self) -> np.ndarray:
        """Heights of the columns [nx x ny, m]: a view, read only, that follows the field. Assign an array to set them."""
        return view(lib.bramah_terrain_heights(self._terrain), self.shape, self._terrain)

    @heights.setter
    def heights(self, values: Any) -> None:
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(values, np.float64), self.shape))
        check(lib.bramah_terrain_set_heights(self._terrain, ffi.from_buffer("double[]", values), self._diag), self._diag)

    def height(self, x: float, y: float) -> float:
        """Height at a place [m], bilinear."""
        return lib.bramah_terrain_height(self._terrain, x, y, ffi.NULL)

    def normal(self, x: float, y: float) -> np.ndarray:
        """Unit normal there [3]."""
        out = np.empty(3)
        lib.bramah_terrain_height(self._terrain, x, y, ffi.from_buffer("double[]", out))
        return out

    def press(self, x: float, y: float, force: float) -> None:
        """A vertical force [N] on the field until the end of the next step."""
        if lib.bramah_terrain_press(self._terrain, x, y, force):
            raise InputError("place and force must be finite, the force not negative", "E_VALUE", thing="press")

    def add_particle(self, position: Any, velocity: Any = (0.0, 0.0, 0.0)) -> None:
        """A particle more [m, m/s]."""
        check(lib.bramah_terrain_add_particle(self._terrain, list(position), list(velocity), self._diag), self._diag)

    def place(self, tool: int, position: Optional[Any] = None, rotation: Any = ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
              velocity: Any = (0.0, 0.0, 0.0), rate: Any = (0.0, 0.0, 0.0)) -> None:
        """Place the frame of a tool [m; 3 x 3 to inertial axes; m/s; rad/s]; position None: it is away."""
        motion = ffi.NULL
        if position is not None:
            motion = ffi.new("bramah_tool_motion *", {
                "position": list(position), "rotation": array_of(rotation, 9, "rotation").tolist(),
                "velocity": list(velocity), "rate": list(rate)})
        check(lib.bramah_terrain_place(self._terrain, tool, motion, self._diag), self._diag)

    def step(self, step: float) -> None:
        """Go on by so many seconds."""
        check(lib.bramah_terrain_step(self._terrain, step, self._diag), self._diag)

    def load(self, tool: int) -> Record:
        """What the last step put on a tool: force [3, N], torque [3, N m], cutting [3, N], carried [kg]."""
        return record(lib.bramah_terrain_tool_load(self._terrain, tool))

    @property
    def particles(self) -> np.ndarray:
        """Position, velocity and rate of all particles [n x 9] (a copy)."""
        n = lib.bramah_terrain_particles(self._terrain, 0, ffi.NULL)
        out = np.empty((n, 9))
        lib.bramah_terrain_particles(self._terrain, n, ffi.from_buffer("bramah_particle[]", out))
        return out

    @property
    def report(self) -> Record:
        """Mass, energy and counts, as bramah_terrain_report."""
        return record(lib.bramah_terrain_get_report(self._terrain))

    def save(self) -> bytes:
        """The whole state."""
        snap = ffi.new("uint64_t[]", (lib.bramah_terrain_snapshot_size(self._terrain) + 7) // 8)
        lib.bramah_terrain_save(self._terrain, snap)
        return bytes(ffi.buffer(snap, lib.bramah_terrain_snapshot_size(self._terrain)))

    def restore(self, snapshot: bytes) -> None:
        """A state that save() gave, of a terrain made alike."""
        snap = ffi.new("uint64_t[]", (len(snapshot) + 7) // 8)
        ffi.memmove(snap, snapshot, len(snapshot))
        check(lib.bramah_terrain_restore(self._terrain, snap, len(snapshot), self._diag), self._diag)

    def draw(self, axes: Any, particles: bool = True) -> None:
        """The field from above on axes of Matplotlib, lit from the left and above; particles as dots, high ones lighter."""
        try:
            from matplotlib.colors import LightSource
        except ImportError:
            raise Error("pictures need Matplotlib (python3-matplotlib)", "E_UNSUPPORTED", thing="draw") from None
        (nx, ny), (x, y) = self.shape, self.origin
        shade = LightSource(315, 40).hillshade(self.heights.T, vert_exag=1.0, dx=self.cell, dy=self.cell)
        axes.imshow(shade, cmap="copper", vmin=-0.2, vmax=1.1, origin="lower", interpolation="bilinear",
                    extent=(x, x + nx * self.cell, y, y + ny * self.cell))
        if particles:
            p = self.particles
            p = p[np.argsort(p[:, 2])]
            axes.scatter(p[:, 0], p[:, 1], c=p[:, 2], s=7, cmap="YlOrBr_r", linewidths=0.3, edgecolors="0.25")
        axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
        axes.grid(False)

    def __repr__(self) -> str:
        n = lib.bramah_terrain_particles(self._terrain, 0, ffi.NULL)
        return f"<Terrain: {self.shape[0]} x {self.shape[1]} cells of {self.cell:g} m, {n} particles>"
