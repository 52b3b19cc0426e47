/* Checks test vectors of the REM discipline against a REM in C: 64-bit integers only, as a router
 * would have it. It is the controller that `sojourn deploy` puts into a kernel. A file of vectors
 * comes from
 *
 *     sojourn vectors rem --out rem.csv
 *     cc -O2 -o check_rem examples/check_rem.c && ./check_rem rem.csv
 *
 * The parameters are the defaults, at 10 Mb/s and 1500 bytes a packet: gamma = 0.001, alpha = 0.1,
 * phi = 1.001, qref = 20, T = 2 ms, so that C T = 5/3 packets. */
#include <stdint.h>

/* Others with -DREM_GAIN=..., and then all seven. The gain is gamma log2(phi). */
#ifndef REM_GAIN
#define REM_GAIN ((uint64_t)(0.001 * 0.0014419741739063218 * 0x1p62 + 0.5))
#define REM_ALPHA ((int64_t)(0.1 * 0x1p36 + 0.5))
#define REM_OFFSET (-20 * REM_ALPHA)
#define REM_UNIT (INT64_C(1) << 36)
#define REM_MOST (UINT64_C(1) << 24)
#define REM_CAPACITY ((int64_t)(5.0 / 3 * 0x1p36 + 0.5))
#define REM_PERIOD_NS UINT64_C(2000000)
#endif
/* Packets of all sizes are alike. */
#ifndef SIZE_UNIT
#define SIZE_UNIT 0
#endif
#include "../python/sojourn/deploy/bpf/rem_law.h"
#include "check.h"
