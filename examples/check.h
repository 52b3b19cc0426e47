/* Reads test vectors and puts every operation to a control law that was included before: to its
 * probability, and to which packets it hits. Queues are in packets. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define law_sample JOINED(LAW, _sample)
#define law_arrives JOINED(LAW, _arrives)
#define law_hits JOINED(LAW, _hits)

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

static struct LAW law = LAW_BEGINNING;
static uint32_t queue;

/* No number is drawn where the outcome is certain. */
static int hit(void) {
    return law.p > 0 && (law.p == INT64_C(1) << 60 || law_hits(&law, squares64()));
}

int main(int argc, char **argv) {
    char line[512], op[4], result[16];
    unsigned long rows = 0, wrong = 0, acted = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) { fprintf(stderr, "usage: %s FILE\n", argv[0]); return 2; }
    law.next = LAW_PERIOD_NS;
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
        law_sample(&law, now, queue);
        if (op[0] == 'e') {
            law_arrives(&law, 1);
            int drop = hit();
            acted += drop;
            wrong += drop != !strcmp(result, "early");
            queue += !drop;
        } else {
            queue--;
        }
        /* The file's probability has gone through a double. */
        wrong += queue != packets || (uint64_t)((double)law.p * 0x1p-28) != p32;
    }
    printf("%lu operations, %lu drops, %lu differences\n", rows, acted, wrong);
    return rows == 0 || wrong != 0;
}
