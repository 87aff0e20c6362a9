/* SPDX-License-Identifier: MIT */
/* Circuit of a front loader (publication V, Fig. 9) at ten states against reference evaluations by a program of its own: a fixed
 * displacement pump that an engine turns, two 4/3 valves, two lift and two tilt cylinders in parallel. */
#include "lib/hydraulics/circuit.h"
#include "test/support/run.h"

#include <math.h>

static const double pi = 3.14159265358979323846, rated = 50.0; /* [rev/s] at full command */

enum { VP, V1, V2, V3, V4, N_VOLUMES, TANK = N_VOLUMES, LIFT = 0, TILT, DRIVE, N_SPOOLS };

static const struct {
  double p[N_VOLUMES], U[2], reference[2], s[2], v[2]; /* lift and tilt; spools in parts of their limit */
  double pd[N_VOLUMES], n, Ud[2], relief_flow, force[2],
      pump[2]; /* the pump's flow and the power on its shaft */
} cases[] = {
    {{19100000.0, 12477851.2510727, 5116499.529197293, 8727988.40262263, 1806513.3483618323},
     {0, 0},
     {0.5768070370432827, -0.9717573021196324},
     {0.6356335670228247, 0.09391027401993438},
     {0, 0},
     {503452519.8630706, 0, 0, 0, 0},
     35.115880173330595,
     {57.68070370432827, -97.17573021196324},
     0,
     {45139.63048373727, 28907.08922405683},
     {0.001501203877409883, 32634.866900214845}},
    {{12166553.678393373, 13166553.678393373, 3270611.635067751, 2889537.0954794865, 5354353.988866527},
     {1.0, 1.0},
     {-0.5828755695552477, 0.9375379950242277},
     {0.6100174480250262, 0.4090242495214215},
     {0.10191698059232951, 0.03230628367906552},
     {396312526.36382425, -187839782.41692916, 308696594.6382693, -17863171.053836867, 14955132.932689842},
     30.514177037047176,
     {-158.28755695552476, -6.246200497577226},
     0,
     {54944.11316988071, -2757.2473773112943},
     {0.001304481068333767, 18009.829328944314}},
    {{21621423.715086516, 250409.45224020508, 653921.422722966, 10868929.378073908, 4225165.436819648},
     {-1.0, 0},
     {-0.6386452813494765, -0.6598163004741511},
     {0.24981679909091198, 0.1967728443335338},
     {0.17082944313400444, 0.038894629268955094},
     {30622075.55078687, -535465142.58100724, 396732495.2182429, -117459894.50930221, 72793147.27759488},
     20.358734890061392,
     {36.135471865052345, -65.98163004741511},
     0.0005042847430173032,
     {-988.2553014306434, 30877.699466391365},
     {0.0008703359165501245, 21431.1991241801}},
    {{3989290.1821364453, 1434165.6879958012, 6461726.03233877, 13975715.88156484, 3917066.0976596507},
     {0, -1.0},
     {-0.9304770764775376, -0.5028109376038661},
     {0.2803866816001969, 0.3491720917713944},
     {0.14815425377512687, -0.14155413513348383},
     {235155219.44413263, -430519414.61897594, 290492806.7274022, 257139917.71151006, -326458208.7376308},
     16.62877161726613,
     {-93.04770764775377, 49.71890623961339},
     0,
     {-14994.343418920476, 43632.551256445935},
     {0.000710879986638127, 3163.407955044571}},
    {{11988198.158523947, 5112476.169166951, 6169220.68591463, 382157.26320529706, 5513860.001373835},
     {0, -1.0},
     {0.28771779313333945, 0.703364148075516},
     {0.40566452412251974, 0.22685921947162374},
     {-0.09712129329697516, 0.18348517361924083},
     {446785889.99960595, 225013276.0062223, -229865036.08342126, -532810501.6701057, 414836040.8364027},
     34.734564090701404,
     {28.771779313333944, 170.3364148075516},
     0,
     {4499.944260672277, -12820.18570843475},
     {0.001484902614877485, 20197.730585553672}},
    {{4834849.765632051, 13446730.209817298, 6080743.504053601, 10949384.294849586, 4088549.784597493},
     {0, 0},
     {-0.2247039308565899, 0.7289258251114401},
     {0.28263837444921774, 0.45576405877514686},
     {0.026776996777347156, -0.10667305513350388},
     {518078506.5183666, -77456942.84448688, 52665272.44613419, 208340155.85175085, -301818517.3394216},
     36.13604468644853,
     {-22.47039308565899, 72.89258251114401},
     0,
     {46696.49223388139, 31541.408623107593},
     {0.0015448159103456747, 8368.960241470115}},
    {{16792970.922250684, 3574034.656094656, 4970027.655631584, 5998207.576482661, 1690446.8559196903},
     {-0.8693701726481573, 0},
     {0.3034258793790916, 0.2530941786517087},
     {0.5530646064992466, 0.27757207294486075},
     {0.19099625184553526, 0.178820294200716},
     {360170919.9674381, -375380187.7390417, 679338492.8053764, -461397484.8336513, 374190296.29633975},
     29.31745934092642,
     {117.2796052027249, 25.309417865170868},
     0,
     {887.4612874615414, 18702.48422513705},
     {0.0012533213868246044, 23937.823188212842}},
    {{14084205.61004703, 17343625.447505377, 774709.3870916041, 8738789.046382073, 3985890.8075609705},
     {1.0, -1.0},
     {-0.5093875157654255, 0.8333578333061848},
     {0.2747287121558805, 0.4406657164347015},
     {0.04588389510467494, 0.18548182461076518},
     {499136474.3355341, -166557172.74454817, 75321508.18929055, -415566561.12434673, 610651148.5439944},
     36.741008384661484,
     {-150.93875157654256, 183.33578333061848},
     0,
     {84516.57800016868, 23300.114094784654},
     {0.0015706781084442783, 25131.219239913655}},
    {{14293911.796107983, 12333034.059113659, 2160868.0192214577, 17132045.137203604, 2644683.6059236717},
     {1.0, 1.0},
     {-0.5232302457396825, 0.3763293814273334},
     {0.49268456779522374, 0.2202609864484704},
     {-0.1371345402576566, -0.03932662178015414},
     {350628002.8998764, 295474938.8428093, -413746964.03737855, 75370682.17496721, -111584399.3990796},
     24.057244411186996,
     {-152.32302457396824, -62.367061857266656},
     0,
     {54567.59545485612, 59077.30841677197},
     {0.001028447198578244, 16702.16112537065}},
    {{12204698.359068142, 1882436.1496906476, 2540804.7154798466, 8283058.920474367, 7166186.324683264},
     {1.0, 0.14156678008607204},
     {0.05883107842200852, -0.9016817315124874},
     {0.14379874315344388, 0.3014682824507716},
     {-0.03881171976763245, -0.10995204575392999},
     {392175166.33560413, 233127735.6709126, -86639369.90825243, 277395060.22135353, -247850678.65818092},
     32.256970731696825,
     {-94.11689215779914, -104.32485115985594},
     0,
     {731.6539386856584, 13303.524783620273},
     {0.0013789854987800393, 19098.63101174085}},
};

static bramah__cylinder two(size_t piston, size_t rod, double bore, double thick, double stroke)
{
  const double A = 2.0 * pi / 4.0 * bore * bore;
  return (bramah__cylinder){.piston = piston,
                            .rod = rod,
                            .piston_area = A,
                            .rod_area = A - 2.0 * pi / 4.0 * thick * thick,
                            .bulk_modulus = 31.5e9,
                            .rod_length = stroke};
}

EACH_TEST(test_reference, 0, sizeof cases / sizeof *cases)
{
  static const double hose[N_VOLUMES] = {1.2e-3, 6e-4, 6e-4, 6e-4, 6e-4};
  static const size_t drive[1] = {DRIVE};
  const double tank = 1e5;
  bramah__volume volume[N_VOLUMES];
  for (int i = 0; i < N_VOLUMES; i++) volume[i] = (bramah__volume){hose[i], hose[i] / 550e6};
  const bramah__element pump = {BRAMAH__KIND(pump), {TANK, VP, 0}, {4.5e-5 * 0.95 * rated}};
  const bramah__cylinder cylinder[2] = {two(V1, V2, 0.08, 0.045, 0.7), two(V3, V4, 0.07, 0.04, 0.55)};
  bramah__valve valve[N_SPOOLS];
  for (size_t i = 0; i < 2; i++)
    valve[i] = (bramah__valve){.pump = VP,
                               .tank = TANK,
                               .a = i ? V3 : V1,
                               .b = i ? V4 : V2,
                               .coefficient = 6e-8,
                               .time_constant = 0.01,
                               .limit = 1.0};
  valve[DRIVE] = (bramah__valve){.limit = 10.0};
  const bramah__circuit circuit = {.oil_bulk_modulus = 1.5e9,
                                   .transition_pressure = 2e5,
                                   .n_volumes = N_VOLUMES,
                                   .n_supplies = 1,
                                   .n_valves = 2,
                                   .n_metering_spools = 1,
                                   .n_cylinders = 2,
                                   .n_elements = 1,
                                   .n_passing = 1,
                                   .volume = volume,
                                   .supply = &tank,
                                   .element = &pump,
                                   .drive = drive,
                                   .valve = valve,
                                   .cylinder = cylinder};
  const double *p = cases[_i].p, U[N_SPOOLS] = {cases[_i].U[0], cases[_i].U[1], 10.0 * cases[_i].n / rated};
  double flow[N_VOLUMES], pd[N_VOLUMES];
  bramah__circuit_rates(&circuit, p, cases[_i].s, cases[_i].v, U, flow, pd);

  /* Theirs is a relief valve whose flow is linear in the pressure. */
  pd[VP] -= cases[_i].relief_flow / (hose[VP] / 1.5e9 + hose[VP] / 550e6);
  for (int i = 0; i < N_VOLUMES; i++)
    ck_assert_double_eq_tol(pd[i], cases[_i].pd[i], 1e-12 * fabs(cases[_i].pd[i]) + 1e-6);
  for (size_t i = 0; i < 2; i++) {
    const double h = 1e-9, moved = bramah__spool_step(&valve[i], U[i], cases[_i].reference[i], h) - U[i];
    ck_assert_double_eq_tol(moved / h * (1.0 + 0.5 * h / 0.01), cases[_i].Ud[i], 1e-5);
    ck_assert_double_eq_tol(bramah__pressure_force(&circuit, i, p), 2.0 * cases[_i].force[i],
                            1e-12 * fabs(cases[_i].force[i]));
  }
  const double Q = bramah__element_flow(&circuit, 0, p, U, NULL, NULL);
  ck_assert_double_eq_tol(Q, cases[_i].pump[0], 1e-12 * Q);
  ck_assert_double_eq_tol(Q * (p[VP] - tank) / (0.95 * 0.92), cases[_i].pump[1], 1e-11 * cases[_i].pump[1]);

  /* The same turned by the engine's shaft, a joint without areas as cylinder 2: flow, rates, torque and derivatives. */
  const bramah__cylinder with_shaft[3] = {
      cylinder[0], cylinder[1], {.endless = 1, .piston_length = INFINITY, .rod_length = INFINITY}};
  const double speed = 2.0 * pi * rated, omega = 2.0 * pi * cases[_i].n,
               s[3] = {cases[_i].s[0], cases[_i].s[1], 1.0}, v[3] = {cases[_i].v[0], cases[_i].v[1], omega};
  const bramah__driven_pump driven = {
      .cylinder = 2, .part_per_rate = 1.0 / speed, .per_power = 1.0 / (speed * 0.95 * 0.92)};
  bramah__circuit turned = circuit;
  turned.drive = NULL, turned.n_cylinders = 3, turned.cylinder = with_shaft, turned.n_driven = 1,
  turned.driven = &driven;
  double rates[N_VOLUMES], by_p[N_VOLUMES], by_flow[3], by_v;
  bramah__circuit_rates(&turned, p, s, v, U, flow, rates);
  rates[VP] -= cases[_i].relief_flow / (hose[VP] / 1.5e9 + hose[VP] / 550e6);
  for (int i = 0; i < N_VOLUMES; i++)
    ck_assert_double_eq_tol(rates[i], cases[_i].pd[i], 1e-12 * fabs(cases[_i].pd[i]) + 1e-6);
  ck_assert_double_eq_tol(bramah__flow_at(&turned, 0, p, v, U, NULL, by_flow, NULL), Q, 1e-12 * Q);
  ck_assert_double_eq_tol(by_flow[2], Q / omega, 1e-12 * Q / omega);
  const double T = bramah__driven_torque(&turned, 0, p, v, U, by_p, &by_v, NULL);
  ck_assert_double_eq_tol(-T * omega, cases[_i].pump[1], 1e-11 * cases[_i].pump[1]);
  ck_assert_double_eq_tol(by_p[VP], T / (p[VP] - tank), 1e-11 * fabs(by_p[VP]));
  ck_assert_double_eq(by_v, 0.0);
  const double back[3] = {0.0, 0.0, -5.0}, slow[3] = {0.0, 0.0, 0.005 * speed};
  ck_assert_double_eq(bramah__driven_torque(&turned, 0, p, back, U, NULL, NULL, NULL), 0.0);
  ck_assert_double_eq(bramah__flow_at(&turned, 0, p, back, U, NULL, NULL, NULL), 0.0);
  ck_assert_double_eq_tol(bramah__driven_torque(&turned, 0, p, slow, U, NULL, &by_v, NULL), 0.5 * T,
                          1e-9 * fabs(T));
  ck_assert_double_eq_tol(by_v, T / (0.01 * speed), 1e-9 * fabs(by_v));
}

int main(void) { return run_tests("loader circuit"); }
