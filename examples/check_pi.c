/* Checks test vectors of the PI discipline against a PI in C: 64-bit integers only, as a router
 * would have it. It is the controller that `sojourn deploy` puts into a kernel. A file of vectors
 * comes from
 *
 *     sojourn vectors pi --set qref=20 --out pi.csv
 *     cc -O2 -o check_pi examples/check_pi.c && ./check_pi pi.csv
 *
 * The gains are those of the defaults, a = 1.822e-5 and b = 1.816e-5 at 170 Hz. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Gains as integers times 2^60, the sampling period in nanoseconds, the setpoint in packets; others
 * with -DPI_A=..., and then all five. */
#ifndef PI_A
#define PI_A ((int64_t)(1.822e-5 * 0x1p60 + 0.5))
#define PI_DIFFERENCE (PI_A - (int64_t)(1.816e-5 * 0x1p60 + 0.5))
#define PI_PERIOD_NS UINT64_C(5882353)
#define PI_QREF 20
#define PI_OFFSET 0
#endif
#include "../python/sojourn/deploy/bpf/pi_law.h"

/* The random numbers: squares64 (Widynski), with the key from the head of the file. */
static uint64_t key, counter;

static uint64_t squares64(void) {
    uint64_t x = counter * key, y = x, z = y + key, t;
    counter++;
    x = x * x + y; x = (x >> 32) | (x << 32);
    x = x * x + z; x = (x >> 32) | (x << 32);
    x = x * x + y; x = (x >> 32) | (x << 32);
    t = x = x * x + z; x = (x >> 32) | (x << 32);
    return t ^ ((x * x + y) >> 32);
}

static struct pi law = {.next = PI_PERIOD_NS, .before = -1};
static uint32_t queue;

/* No number is drawn where the outcome is certain. */
static int hit(void) {
    return law.p > 0 && (law.p == PI_ONE || pi_hits(&law, squares64()));
}

int main(int argc, char **argv) {
    char line[512], op[4], result[16];
    unsigned long rows = 0, wrong = 0, acted = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) { fprintf(stderr, "usage: check_pi FILE\n"); return 2; }
    while (fgets(line, sizeof line, file)) {
        uint64_t now, p32;
        uint32_t packet, bytes, ecn, flow, packets;
        uint64_t held;
        char *at = strstr(line, "key 0x");
        if (at) key = strtoull(at + 4, NULL, 16);
        int n = sscanf(line, "%1[ed],%" SCNu64 ",%" SCNu32 ",%" SCNu32 ",%" SCNu32 ",%" SCNu32
                             ",%15[a-z],%" SCNu32 ",%" SCNu64 ",%" SCNu64,
                       op, &now, &packet, &bytes, &ecn, &flow, result, &packets, &held, &p32);
        if (n != 10) continue;
        rows++;
        pi_sample(&law, now, queue);
        if (op[0] == 'e') {
            int drop = hit();
            acted += drop;
            wrong += drop != !strcmp(result, "early");
            queue += !drop;
        } else {
            queue--;
        }
        wrong += queue != packets || (uint64_t)law.p >> 28 != p32;
    }
    printf("%lu operations, %lu drops, %lu differences\n", rows, acted, wrong);
    return rows == 0 || wrong != 0;
}
