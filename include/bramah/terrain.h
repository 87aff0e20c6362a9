/* SPDX-License-Identifier: MIT */
/* Soil that moves: the ground of a simulated machine, no part of any filter. A field of columns that slump to their angle of
 * repose, that loads press down and edges of tools cut; what fails becomes spheres, which lie in a bucket, fall out of it and,
 * once at rest, become field again. Mass is the same before and after.
 *
 * Frame: z up, gravity along -z. Cell (i, j), i < nx, j < ny, is a column with its centre at
 * (origin[0] + (i + 1/2) cell, origin[1] + (j + 1/2) cell); tables over the field are [nx x ny] row-major: i ny + j. Between
 * centres heights are bilinear, outside they go on as at the border. Particles meet smooth walls at the border.
 *
 * A step of a coupled simulation: tyres and buckets ask for heights and forces with the field as it is, the machine moves,
 * loads are pressed on the field and tools placed, bramah_terrain_step.
 *
 * Sources: publication V of the dissertation (equations in brackets); A. R. Reece, The fundamental equation of earth-moving
 * mechanics, Proc. IMechE 179 (1964); E. McKyes, Soil Cutting and Tillage (1985); contacts: K. H. Hunt, F. R. E. Crossley
 * (1975), bristles: C. Canudas de Wit and others (1995). Nothing allocates but bramah_terrain_new; nothing depends on threads. */
#ifndef BRAMAH_TERRAIN_H
#define BRAMAH_TERRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- soil, without a field ---- */

/* Its properties. */
typedef struct bramah_soil {
  double density; /* of soil as it lies, with its voids [kg/m^3]; > 0 */
  /* volume of voids to that of grains; >= 0: particles have the density (1 + void_ratio) density */
  double void_ratio;
  double repose;        /* angle of repose [rad]; in ]0, pi/2[ */
  double friction;      /* of soil on soil [rad]; in ]0, pi/2[ */
  double tool_friction; /* of soil on the steel of a tool [rad]; in [0, pi/2[ */
  double cohesion;      /* [Pa]; >= 0 */
  double adhesion;      /* of soil to a tool [Pa]; >= 0 */
} bramah_soil;

/* Dry sand: 1600 kg/m^3, 0.65, 35 deg, 35 deg, 20 deg, no cohesion, no adhesion. */
BRAMAH_API void bramah_soil_default(bramah_soil *soil);

/* A blade in front of which a wedge of soil is about to fail. */
typedef struct bramah_cut {
  double depth, width; /* [m]; >= 0 */
  double rake;         /* of the blade, from the horizontal behind it [rad]: pi/2 is upright; in ]0, pi[ */
  double surcharge;    /* on the ground in front of it [Pa]; >= 0 */
} bramah_cut;

/* The wedge with the least resistance, and the force that it asks of the blade. */
typedef struct bramah_cut_force {
  double wedge;                /* beta: angle of the plane it slides on, from the horizontal [rad] */
  double n_weight, n_cohesion; /* N_gamma, N_c, ... */
  double n_surcharge, n_adhesion;
  /* (gamma depth^2 N_gamma + c depth N_c + q depth N_q + c_a depth N_a) width, at tool_friction from the
   * blade's normal [N] */
  double force;
  double horizontal; /* on the soil along the motion, adhesion included [N]; the blade feels the opposite */
  double vertical;   /* on the soil, upwards [N] */
} bramah_cut_force;

/* The fundamental equation of earth-moving with McKyes' wedge, its angle in closed form (Coulomb's). gravity [m/s^2].
 * Errors: E_VALUE (outside the ranges; rake and both angles of friction reach 180 degrees, where no wedge rises before the
 * blade). */
BRAMAH_API bramah_status bramah_soil_cut(const bramah_soil *soil, double gravity, const bramah_cut *cut,
                                         bramah_diag *diag, bramah_cut_force *out);

/* Pressure at the base of columns that are cut in layers, (V 12-14): each layer hands what lies on it to the nine blocks below
 * by the weights spread [3 x 3] row-major, then adds its own. weight [n_layers x nx x ny], the lowest layer first; base
 * and scratch [nx x ny]. What would leave the field stays in the border cell. The paper normalises its weights in one dimension;
 * in the plane the nine add up to one. Work: nine products a block. Errors: E_ARGUMENT (nothing to do), E_VALUE (spread
 * does not add up to one). */
BRAMAH_API bramah_status bramah_soil_base_pressure(size_t n_layers, size_t nx, size_t ny,
                                                   const double *spread, const double *weight,
                                                   double *scratch, double *base, bramah_diag *diag);

/* ---- terrain ---- */

/* How columns slump where they are steeper than the angle of repose. A sweep moves z_+ times the slope or its excess. */
typedef enum bramah_slump {
  /* the excess, over every face along the gradient there: neutral in direction; rests at the angle of repose
   * to 0.1 % of its tangent */
  BRAMAH_SLUMP_NEUTRAL = 0,
  /* the excess of forward differences: rests in the limit; skewed, a cone of it is not round */
  BRAMAH_SLUMP_EXCESS = 1,
  BRAMAH_SLUMP_PRINTED = 2 /* (V 15), the whole forward difference: rests below the angle of repose; skewed */
} bramah_slump;

/* Corners of a plate at most. */
enum { BRAMAH_PLATE_CORNERS = 8 };

/* A flat part of a tool, without thickness, which particles touch from either side and at its edges. */
typedef struct bramah_plate {
  size_t n_corners;                       /* 3 to 8 */
  double corner[BRAMAH_PLATE_CORNERS][3]; /* in the tool's frame, convex and in a plane, in order [m] */
} bramah_plate;

/* A bucket, blade or the like: what moves through the soil. The edge cuts the field; plates hold particles and pass through the field
 * otherwise; points press on the field. An edge that goes straight down meets no resistance but that of its wedge. */
typedef struct bramah_tool {
  size_t n_plates;
  const bramah_plate *plates;
  int has_edge;
  double edge[2][3]; /* its ends, left and right as seen along the direction it cuts in [m] */
  double blade[3];   /* from the edge up along the blade, as far as soil lies on it [m]; not 0 */
  size_t n_points;
  const double *points; /* [n_points x 3] [m] */
  double stiffness;     /* of a point [N/m^1.5]; > 0 with points */
} bramah_tool;

/* All of a terrain. Times and sizes that work together: particles of radius 3.8 cm follow steps of 1.2 ms. */
typedef struct bramah_terrain_options {
  size_t nx, ny;    /* cells; > 0, 2^28 together at most */
  double cell;      /* side [m]; > 0 */
  double origin[2]; /* corner of cell (0, 0) [m] */
  double gravity;   /* [m/s^2]; > 0; default 9.81 */
  bramah_soil soil;

  bramah_slump rule;
  double flow;   /* z_+ in sides of a cell; in ]0, 1/4], beyond which heights would diverge; default 0.2 */
  size_t sweeps; /* a step; default 4 */
  /* eta of (V 16): a vertical force f counts as eta f/(cell^2 density gravity) of height, so that a narrow load of pressure p
   * sinks in to eta p/(density gravity) - cell tan(repose) below its neighbours. Default 0.02: 6 cm for 1 bar and cells of
   * 10 cm; the 4 of the paper would be 25 m. */
  double pressing;
  /* A load sinks in at most so fast [m/s]; 0, the default: at once, as far as its sweeps bring it. A machine whose tyres are stiffer
   * than the soil below them needs a limit, or it and the soil overshoot each other from step to step; 0.5 serves. */
  double sinking;

  size_t max_particles; /* 0: what fails stays where it is; default 1000 */
  double radius;        /* [m]; at least 1e-4; default 0.038 */
  /* E* of their contacts: 4/3 E* sqrt(R) d^1.5 [Pa]; > 0; default 2 MPa, softer than any grain */
  double modulus;
  double loss;     /* of them: times 1 + loss d' [s/m]; >= 0; default 2 */
  double coulomb;  /* friction of particles on each other and the field; > 0; default 0.6 */
  double bristles; /* stiffness of friction per normal force [1/m]; > 0; default 500 */
  double damping;  /* of it [s/m]; >= 0; default 1 */
  int rotates;     /* 1: particles turn; default 0: they slide, which holds a load as well */
  double rolling;  /* resistance of those that turn: moment over normal force and radius; >= 0; default 0.1 */

  double shear;      /* advance of an edge until the wedge before it fails [m]; > 0; default 0.02 */
  double rest_speed; /* a particle on the field that is slower [m/s] ... default 0.05 */
  double rest_rate;  /* ... and turns slower [rad/s] ... default 2 */
  size_t rest_steps; /* ... for so many steps becomes field; 0: never; default 50 */

  size_t n_tools;
  const bramah_tool *tools;
} bramah_terrain_options;

/* All but nx, ny, cell, which become 0. */
BRAMAH_API void bramah_terrain_options_default(bramah_terrain_options *options);

typedef struct bramah_terrain bramah_terrain;

/* Bytes for a terrain; create it there (aligned to 64) or in memory taken once. Its field is flat at 0 with no particle; nothing of the options is
 * needed afterwards. The size is 0 where a number of the options is out of its range. Errors: E_VALUE (diag names the option),
 * E_ARGUMENT (memory too small), E_MEMORY. */
BRAMAH_API size_t bramah_terrain_size(const bramah_terrain_options *options);
BRAMAH_API bramah_status bramah_terrain_init(const bramah_terrain_options *options, void *mem, size_t size,
                                             bramah_diag *diag, bramah_terrain **out);
BRAMAH_API bramah_status bramah_terrain_new(const bramah_terrain_options *options, bramah_diag *diag,
                                            bramah_terrain **out);
BRAMAH_API void
bramah_terrain_free(bramah_terrain *terrain); /* NULL allowed; releases the caller's memory, too */

/* Heights of the columns [nx x ny, m], until the next call that changes them; and other ones in their place, finite
 * (E_NOT_FINITE otherwise). */
BRAMAH_API const double *bramah_terrain_heights(const bramah_terrain *terrain);
BRAMAH_API bramah_status bramah_terrain_set_heights(bramah_terrain *terrain, const double *heights,
                                                    bramah_diag *diag);

/* Height of the field at a place [m], and unless NULL its unit normal, both bilinear. */
BRAMAH_API double bramah_terrain_height(const bramah_terrain *terrain, double x, double y, double normal[3]);

/* A vertical force [N] on the field until the end of the next step, bilinear on the nearest four columns; add one for each disc of a tyre. E_VALUE:
 * negative or not finite, or a place that is not. */
BRAMAH_API bramah_status bramah_terrain_press(bramah_terrain *terrain, double x, double y, double force);

/* A particle more, at rest nowhere: its mass comes into the terrain (bramah_terrain_report.added). Errors: E_ARGUMENT (there is
 * room for no more), E_NOT_FINITE (or beyond 100 km). */
BRAMAH_API bramah_status bramah_terrain_add_particle(bramah_terrain *terrain, const double position[3],
                                                     const double velocity[3], bramah_diag *diag);

/* Where the frame of a tool is at the beginning of a step, and how it moves during it. */
typedef struct bramah_tool_motion {
  double position[3], rotation[9]; /* of its origin [m]; to inertial axes, row-major */
  double velocity[3], rate[3];     /* of its origin [m/s], angular in inertial axes [rad/s] */
} bramah_tool_motion;

/* Place a tool; motion NULL: it is away, as at first. Errors: E_ARGUMENT (no such tool), E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_terrain_place(bramah_terrain *terrain, size_t tool,
                                              const bramah_tool_motion *motion, bramah_diag *diag);

/* A step of so many seconds, > 0: edges cut and points press, columns slump, particles move (in equal parts short enough for
 * their contacts; 64 at most), those at rest become field. Errors: E_VALUE (the step: not positive, or too long), E_NOT_FINITE (a particle), E_SINGULAR
 * (particles are pressed into each other beyond what their contacts are made for); the terrain is of no use then
 * unless a snapshot is restored. */
BRAMAH_API bramah_status bramah_terrain_step(bramah_terrain *terrain, double step, bramah_diag *diag);

/* What the last step put on a tool: forces in inertial axes, means over the step. */
typedef struct bramah_tool_load {
  double force[3], torque[3]; /* [N], about its origin [N m] */
  double cutting[3];          /* part of the force that edges meet in the field [N] */
  double carried;             /* mass of the particles that touch the box around its plates [kg] */
} bramah_tool_load;
/* Zero for a tool that is away or not there. */
BRAMAH_API bramah_tool_load bramah_terrain_tool_load(const bramah_terrain *terrain, size_t tool);

/* A particle. */
typedef struct bramah_particle {
  double position[3], velocity[3], rate[3]; /* [m], [m/s], [rad/s] */
} bramah_particle;
/* The first n of them; returns how many there are. */
BRAMAH_API size_t bramah_terrain_particles(const bramah_terrain *terrain, size_t n, bramah_particle *out);

/* Sums now and counts since the start. */
typedef struct bramah_terrain_report {
  double field_mass;    /* of what lies above z = 0, less what is missing below [kg] */
  double particle_mass; /* of all particles [kg]; field_mass + particle_mass - added stays */
  double added;         /* of particles that were added [kg] */
  /* of the particles: kinetic, of height above z = 0, in contacts with each other and the field [J] */
  double energy;
  size_t n_particles;
  size_t active_cells; /* looked at by the next sweep */
  uint64_t failures;   /* of wedges */
  uint64_t
      starved;     /* of wedges that did not fail for want of particles: loads of tools are too large since */
  uint64_t merged; /* particles that became field */
  uint64_t rebuilds; /* of the list of neighbours */
  uint32_t parts;    /* of the last step */
} bramah_terrain_report;
/* Looks at all cells and contacts. */
BRAMAH_API bramah_terrain_report bramah_terrain_get_report(const bramah_terrain *terrain);

/* The whole state, copied to and from snap [size bytes, 8-byte aligned], exact to the bit. Errors of a restore: E_ARGUMENT (another
 * size), E_SYNTAX (no snapshot, or of another version or type of computer), E_REFERENCE (of another terrain), E_VALUE (corrupted). */
BRAMAH_API size_t bramah_terrain_snapshot_size(const bramah_terrain *terrain);
BRAMAH_API void bramah_terrain_save(const bramah_terrain *terrain, void *snap);
BRAMAH_API bramah_status bramah_terrain_restore(bramah_terrain *terrain, const void *snap, size_t size,
                                                bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
