/* Reads test vectors and puts every operation to a control law that was included before: to its
 * probability, and to what becomes of each packet. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define law_sample JOINED(LAW, _sample)
#define law_arrives JOINED(LAW, _arrives)

/* What the queue and not the law is told, unless it stands before: whether packets are marked, whether
 * the law counts bytes, the most packets, and by how many times 2^-32 the probability may be off. */
#ifndef ECN
#define ECN 0
#endif
#ifndef IN_BYTES
#define IN_BYTES 0
#endif
#ifndef LIMIT
#define LIMIT 1000000
#endif
#ifndef P_ERROR
#define P_ERROR 0
#endif

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
static uint64_t standing;

/* No number is drawn where the outcome is certain. */
static int is_hit(uint32_t bytes) {
    int64_t p = scaled(law.p, bytes);
    return p > 0 && (p == CERTAIN || hits(p, squares64()));
}

/* What becomes of a packet; what comes marked already passes (RFC 3168, section 5). */
static const char *fate(uint32_t bytes, uint32_t ecn) {
    int hit = is_hit(bytes);
    if (hit && !(ECN && ecn != 0)) return "early";
    if (queue >= LIMIT) return "overflow";
    return hit && ecn != 3 ? "marked" : "queued";
}

int main(int argc, char **argv) {
    char line[512], op[4], result[16];
    unsigned long rows = 0, wrong = 0, drops = 0, marks = 0;
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
        law_sample(&law, now, IN_BYTES ? standing : queue);
        if (op[0] == 'e') {
            law_arrives(&law, IN_BYTES ? bytes : 1);
            const char *ours = fate(bytes, ecn);
            int goes = !strcmp(ours, "early") || !strcmp(ours, "overflow");
            drops += goes;
            marks += !strcmp(ours, "marked");
            wrong += strcmp(ours, result) != 0;
            queue += !goes;
            standing += goes ? 0 : bytes;
        } else {
            queue--;
            standing -= bytes;
        }
        /* The file's probability has gone through a double. */
        int64_t off = (int64_t)((double)law.p * 0x1p-28) - (int64_t)p32;
        wrong += queue != packets || standing != held || llabs(off) > P_ERROR;
    }
    printf("%lu operations, %lu drops, %lu marks, %lu differences\n", rows, drops, marks, wrong);
    return rows == 0 || wrong != 0;
}
