/* Checks test vectors of the PI discipline against a PI in C: 64-bit integers only, as a router
 * would have it. It is the controller that `sojourn deploy` puts into a kernel. A file of vectors
 * comes from
 *
 *     sojourn vectors pi --set qref=20 --out pi.csv
 *     cc -O2 -o check_pi examples/check_pi.c && ./check_pi pi.csv
 *
 * The gains are those of the defaults, a = 1.822e-5 and b = 1.816e-5 at 170 Hz. */
#include <stdint.h>

/* Gains as integers times 2^60, the sampling period in nanoseconds, the setpoint in packets; others
 * with -DPI_A=..., and then all five. */
#ifndef PI_A
#define PI_A ((int64_t)(1.822e-5 * 0x1p60 + 0.5))
#define PI_DIFFERENCE (PI_A - (int64_t)(1.816e-5 * 0x1p60 + 0.5))
#define PI_PERIOD_NS UINT64_C(5882353)
#define PI_QREF 20
#define PI_OFFSET 0
#endif
/* Packets of all sizes are alike. */
#ifndef SIZE_UNIT
#define SIZE_UNIT 0
#endif
#include "../python/sojourn/deploy/bpf/pi_law.h"
#include "check.h"
