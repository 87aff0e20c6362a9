/* Steps of the machine "hydraulic four-bar" and its filter, written by bramah: made to be compiled, not to be read or changed.
 *
 * It needs a C11 compiler, sqrt and fabs; it allocates nothing, calls itself nowhere, and its loops are bounded. The
 * same bits as where it was written come out where the compiler contracts no products with sums: gcc and clang with
 * -std=c11 -ffp-contract=off.
 *
 *   four_bar_state s = four_bar_start;
 *   double commands[] = {...}, parameters[FOUR_BAR_PARAMETERS];
 *   memcpy(parameters, four_bar_nominal, sizeof parameters);
 *   while (four_bar_step(&s, commands, parameters) >= FOUR_BAR_OK) ...
 *
 * What FOUR_BAR_step does not do, and the program does: it does not divide a step whose error is too large (it says FOUR_BAR_COARSE),
 * does not halve a correction that goes astray and does not go over to other independent coordinates (it says so and
 * leaves the state as it was), and takes no sums of works. Units: SI, angles rad, pressures Pa absolute, commands V. */
#ifndef FOUR_BAR_H
#define FOUR_BAR_H

#define FOUR_BAR_JOINTS 3
#define FOUR_BAR_DEPENDENT 2
#define FOUR_BAR_INDEPENDENT 1
#define FOUR_BAR_FIRST_ORDER 3
#define FOUR_BAR_UNKNOWNS 4
#define FOUR_BAR_SPOOLS 1
#define FOUR_BAR_ACTUATORS 1
#define FOUR_BAR_INPUTS 1
#define FOUR_BAR_PARAMETERS 15
#define FOUR_BAR_ITERATIONS 25
#define FOUR_BAR_MOTIONS 0
#define FOUR_BAR_BRISTLES 0
#define FOUR_BAR_BRISTLE_ERRORS 0
#define FOUR_BAR_BALLS 0
#define FOUR_BAR_METERED 0
#define FOUR_BAR_STANDING 0
#define FOUR_BAR_FACTORS 0
#define FOUR_BAR_LEAPS 0
#define FOUR_BAR_STEP_NS 1000000
#define FOUR_BAR_STEP 0.001 /* [s] */
#define FOUR_BAR_TOLERANCE 0.01 /* of the error of a position in a step [rad or m] */

#ifndef BRAMAH_DEVICE /* a processor of graphics, which has no headers */
#include <stdint.h>
#endif
#ifndef FOUR_BAR_FUNCTION /* what stands before all that the files define for others: __device__ of CUDA */
#define FOUR_BAR_FUNCTION
#endif

#define FOUR_BAR_ROOM(n) ((n) > 0 ? (n) : 1)

/* Of all numbers. */
typedef double four_bar_real;

/* Of a step. Below FOUR_BAR_OK it was refused: the state is where it was. */
enum {
  FOUR_BAR_OK = 0,
  FOUR_BAR_COARSE = 1,          /* made, with an error of a position larger than FOUR_BAR_TOLERANCE */
  FOUR_BAR_SINGULAR = -1,       /* a small pivot: a pose near a singular one, or far from where the machine started */
  FOUR_BAR_NO_CONVERGENCE = -2, /* of Newton's method */
  FOUR_BAR_NOT_FINITE = -3,     /* a command, a parameter or the result */
  FOUR_BAR_STROKE = -4          /* a piston has left its cylinder */
};

/* Values between the parts of a step. */
typedef struct four_bar_work {
  double theta[15];
  double h[1];
  double U[1];
  double gate[1];
  double z[3];
  double zd[1];
  double zdd[1];
  double p[3];
  double pd[3];
  double A[20];
  double correction[4];
  double closing[2];
  double closure_pivot[2];
  double pivot[4];
  double zd_all[3];
  double stroke[1];
  double velocity[1];
  double force[1];
  double zdd_all[3];
  double pd_state[3];
  double zdd_state[3];
  double mass_pivot[1];
  double F[25];
  double N[20];
  double Rz[3];
  double friction[1];
  double guess[4];
  double guess_dependent[2];
  double kept[286];
  double read[2][7];
  int is_set_up;
#if FOUR_BAR_METERED > 0
  int is_shown, by_theta; /* what of quasistatic actuators at this point is there besides velocities; by parameters: so far */
#endif
} four_bar_work;

/* Joint positions, rates and accelerations; pressures and their rates; spools; what actuators do. Set positions and
 * rates only so that loops stay closed. Zeros in `work` are right at the start; a copy of the whole is another
 * machine. */
typedef struct four_bar_state {
  double z[FOUR_BAR_ROOM(FOUR_BAR_JOINTS)], zd[FOUR_BAR_ROOM(FOUR_BAR_JOINTS)], zdd[FOUR_BAR_ROOM(FOUR_BAR_JOINTS)];
  double p[FOUR_BAR_ROOM(FOUR_BAR_FIRST_ORDER)], pd[FOUR_BAR_ROOM(FOUR_BAR_FIRST_ORDER)];
  double U[FOUR_BAR_ROOM(FOUR_BAR_SPOOLS)], u[FOUR_BAR_ROOM(FOUR_BAR_INPUTS)]; /* u: commands */
  double stroke[FOUR_BAR_ROOM(FOUR_BAR_ACTUATORS)], velocity[FOUR_BAR_ROOM(FOUR_BAR_ACTUATORS)]; /* after a step */
  double force[FOUR_BAR_ROOM(FOUR_BAR_ACTUATORS)];
#if FOUR_BAR_BRISTLES > 0
  double x[FOUR_BAR_BRISTLES], xd[FOUR_BAR_BRISTLES]; /* states of friction, and their rates */
#endif
#if FOUR_BAR_STANDING > 0
  double plane[10 * FOUR_BAR_STANDING]; /* below contacts and discs of tyres on a terrain: axes, distance from the origin */
  int stands_anew;                  /* four_bar_stand has moved a plane since the last step */
#endif
#if FOUR_BAR_MOTIONS > 0
  int64_t time_ns; /* that prescribed motions go by */
#endif
  double error;   /* of the last step, of the position that has the largest [rad or m] */
  int iterations; /* of the last step */
  four_bar_work work;
} four_bar_state;

/* Where the machine file has it, with the nominal parameters. */
FOUR_BAR_FUNCTION extern const four_bar_state four_bar_start;
FOUR_BAR_FUNCTION extern const double four_bar_nominal[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)];

/* Names, in the order of the arrays. */
#ifndef BRAMAH_DEVICE
extern const char *const four_bar_joint_names[FOUR_BAR_ROOM(FOUR_BAR_JOINTS)];
extern const char *const four_bar_first_order_names[FOUR_BAR_ROOM(FOUR_BAR_FIRST_ORDER)];
extern const char *const four_bar_actuator_names[FOUR_BAR_ROOM(FOUR_BAR_ACTUATORS)];
extern const char *const four_bar_input_names[FOUR_BAR_ROOM(FOUR_BAR_INPUTS)];
extern const char *const four_bar_parameter_names[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)];
#if FOUR_BAR_BRISTLE_ERRORS > 0
extern const char *const four_bar_bristle_names[FOUR_BAR_BRISTLE_ERRORS];
#endif
#endif

#if FOUR_BAR_STANDING > 0
/* Your ground: its height [m] at x, y in the axes of the machine's terrain, and its normal there, of length 1 and up. */
typedef double four_bar_ground(void *self, double x, double y, double *normal);

/* Let contacts and tyres on the terrain see the planes that touch the ground below them now: call it before each step, as the library does.
 * Without it they stay on those of the start. */
FOUR_BAR_FUNCTION void four_bar_stand(four_bar_state *s, four_bar_ground *ground, void *self);
#endif

/* A step of FOUR_BAR_STEP seconds with commands held. Parameters other than those of the step before move accelerations and
 * pressure rates at once. */
FOUR_BAR_FUNCTION int four_bar_step(four_bar_state *s, const double *inputs, const double *parameters);

/* ---- the filter ----
 *
 *   static four_bar_filter f;
 *   four_bar_begin(&f);
 *   for (;;) {
 *     four_bar_predict(&f, commands);          the step of the machine, and the covariance with it
 *     four_bar_correct(&f, y, present);        measurements at its end, which are tested and fused
 *     ... f.plant is the estimate, sqrt(f.P[i][i]) its standard deviations ...
 *   }
 *
 * An error-state extended Kalman filter: the derivative of the step itself for the transition, sensors one after the
 * other, gates on single innovations and on their running mean. With the state of the machine FOUR_BAR_AUGMENTED others are
 * estimated: parameters, which stand in f.parameters, and biases of sensors, in f.mean; other parameters may be set. All
 * or nothing: what is refused (below FOUR_BAR_OK) leaves the filter as it was. */
#define FOUR_BAR_ERRORS 5
#define FOUR_BAR_AUGMENTED 0
#define FOUR_BAR_SENSORS 5
#define FOUR_BAR_OUTPUTS 17
#define FOUR_BAR_PATIENCE 25
#define FOUR_BAR_ROOT 0
#define FOUR_BAR_LATE 0
#define FOUR_BAR_PHASES 0

enum {
  FOUR_BAR_RECOVERED = 2, /* no sensor agreed with the filter any more: its covariance was inflated by that of the start */
  FOUR_BAR_NOT_POSITIVE = -5, /* a variance */
  FOUR_BAR_ABSURD = -6        /* a measurement, of a sensor that has no gate to reject it */
};

/* Of a sensor, from sample to sample: running mean of its normalised innovations; rejections in a row, of which
 * FOUR_BAR_PATIENCE make it count as faulty; 1: rejected by the running mean. */
typedef struct four_bar_watch {
  double drift;
  double common; /* of that what comes from what is considered */
  unsigned rejected;
  int drifted;
} four_bar_watch;

/* What the last correction made of a sensor: all zero where there was no sample. */
typedef struct four_bar_innovation {
  double innovation, sigma, nis; /* measured less predicted; its standard deviation; its square by its variance */
  int accepted;                  /* 0: rejected by its gate or at an end of its range */
} four_bar_innovation;

/* P: covariance of the errors of the positions and rates of the independent joints, of the first-order states, of the
 * FOUR_BAR_BRISTLE_ERRORS bristles that are error states, and of what else is estimated. */
typedef struct four_bar_filter {
  four_bar_state plant;
  double parameters[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)];
  double mean[FOUR_BAR_ROOM(FOUR_BAR_ERRORS - FOUR_BAR_INDEPENDENT - FOUR_BAR_UNKNOWNS - FOUR_BAR_BRISTLE_ERRORS)]; /* of what else is estimated, but parameters */
  double P[FOUR_BAR_ERRORS][FOUR_BAR_ERRORS];
#if FOUR_BAR_ROOT
  double S[FOUR_BAR_ERRORS][FOUR_BAR_ERRORS]; /* P = S S' */
#endif
  four_bar_watch watch[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  four_bar_innovation sensor[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  double nis;  /* of all that was fused together */
  int nis_dof; /* how many that were */
  int known;   /* what the work holds of the state */
  uint64_t predictions; /* since the start */
  /* what was learned of what is considered; effects of parameters on steps; how predictions change over them */
  double information[FOUR_BAR_ROOM(FOUR_BAR_AUGMENTED)], effect[FOUR_BAR_ROOM(FOUR_BAR_AUGMENTED)], effect_spread[FOUR_BAR_ROOM(FOUR_BAR_AUGMENTED)];
  double change[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)], bend[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
#if FOUR_BAR_PHASES > 0
  unsigned char in_phase[FOUR_BAR_PHASES];         /* 1: it was on in the last step */
  int64_t silent[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];     /* steps since the last sample of each sensor; -1: none yet */
#endif
} four_bar_filter;

/* Where the study starts. */
FOUR_BAR_FUNCTION void four_bar_begin(four_bar_filter *f);

/* FOUR_BAR_STEP seconds on, with commands held; in up to 64 parts where the whole does not converge or its error is too large. */
FOUR_BAR_FUNCTION int four_bar_predict(four_bar_filter *f, const double *inputs);

/* Measurements y at the present time, in the order and units of the names below; present[i] = 0: none of sensor i. */
FOUR_BAR_FUNCTION int four_bar_correct(four_bar_filter *f, const double *y, const unsigned char *present);

/* Errors of the state, in the order of P, are taken off: the loops stay closed, rates and pressures follow. */
FOUR_BAR_FUNCTION int four_bar_inject(four_bar_filter *f, const double *dx);

/* Values of FOUR_BAR_OUTPUTS outputs of the machine; their standard deviations, -1 where there is none. */
FOUR_BAR_FUNCTION void four_bar_outputs(four_bar_filter *f, double *value, double *sigma);

/* Value and standard deviation of the augmented state i; 1: it is estimated, 0: considered so far. */
FOUR_BAR_FUNCTION int four_bar_augmented(const four_bar_filter *f, int i, double *value, double *sigma);

#if FOUR_BAR_LATE > 0
/* Some samples come late, up to FOUR_BAR_LATE steps. The filter goes back to where they were measured and makes the steps since then
 * again, with all samples: four_bar_late_step instead of four_bar_predict and four_bar_correct, with what has come by its end. The estimate is in
 * `filter`. Below FOUR_BAR_OK it is where it was, and the samples of this call are lost. */
typedef struct four_bar_late {
  four_bar_filter filter, before[FOUR_BAR_LATE + 1]; /* the last points before their corrections, point k at k % (FOUR_BAR_LATE + 1) */
  double inputs[FOUR_BAR_LATE + 1][FOUR_BAR_ROOM(FOUR_BAR_INPUTS)], y[FOUR_BAR_LATE + 1][FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  unsigned char present[FOUR_BAR_LATE + 1][FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  uint64_t points; /* steps since the start */
} four_bar_late;

FOUR_BAR_FUNCTION void four_bar_late_begin(four_bar_late *l);
FOUR_BAR_FUNCTION int four_bar_late_step(four_bar_late *l, const double *inputs, const double *y, const unsigned char *present);
#endif

/* Names and units, in these orders. */
#ifndef BRAMAH_DEVICE
extern const char *const four_bar_augmented_names[FOUR_BAR_ROOM(FOUR_BAR_AUGMENTED)];
extern const char *const four_bar_sensor_names[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
extern const char *const four_bar_sensor_units[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
extern const char *const four_bar_output_names[FOUR_BAR_ROOM(FOUR_BAR_OUTPUTS)];
extern const char *const four_bar_output_units[FOUR_BAR_ROOM(FOUR_BAR_OUTPUTS)];
#endif

#endif
