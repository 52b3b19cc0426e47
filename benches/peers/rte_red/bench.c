/*
 * What one decision of DPDK's RED costs, with nothing around it but the loop.
 *
 *   cc -O3 $(pkg-config --cflags libdpdk) bench.c -o bench -lrte_sched
 *   ./bench [million decisions per repetition = 20] [repetitions = 9]
 *
 * The patterns are those of benches/decision: thresholds 100 and 300 packets, max_p 1/10,
 * weight 2^-9, and a queue that stands at 50 (below: nothing random), 200 (between: random
 * drops) or 500 (above: all dropped), or walks at random between 0 and 500. Time is a count
 * of packets, so no idle time is ever made up. Prints a JSON line per pattern, in ns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_red.h>

#define STEPS 65536

static uint16_t walk[STEPS];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A reflected walk of single steps; its own generator, so that every platform agrees. */
static void fill_walk(void)
{
	uint64_t state = 1;
	int queue = 200;

	for (int i = 0; i < STEPS; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		queue += (state >> 63) ? 1 : -1;
		if (queue < 0)
			queue = 0;
		if (queue > 500)
			queue = 500;
		walk[i] = queue;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int queue; /* negative: the walk */
	} patterns[] = { { "below", 50 }, { "between", 200 }, { "above", 500 }, { "walk", -1 } };
	long decisions = (argc > 1 ? atol(argv[1]) : 20) * 1000000L;
	int repetitions = argc > 2 ? atoi(argv[2]) : 9;
	double *cost = malloc(repetitions * sizeof(*cost));
	struct rte_red_config config;

	if (!cost || repetitions < 1 || rte_red_config_init(&config, 9, 100, 300, 10) != 0)
		return 1;
	fill_walk();
	for (unsigned int p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		long drops = 0;

		for (int r = 0; r < repetitions; r++) {
			struct rte_red red;

			rte_red_rt_data_init(&red);
			/* Start from the average that the pattern ends at. */
			for (long i = 0; i < 100000; i++)
				rte_red_enqueue(&config, &red,
						patterns[p].queue < 0 ? 200 : patterns[p].queue, i);
			drops = 0;
			double begin = seconds();
			for (long i = 0; i < decisions; i++) {
				unsigned int queue = patterns[p].queue < 0 ? walk[i % STEPS]
									   : (unsigned int)patterns[p].queue;
				/* Keep the compiler from knowing the length. */
				__asm__ volatile("" : "+r"(queue));
				drops += rte_red_enqueue(&config, &red, queue, i) != 0;
			}
			cost[r] = (seconds() - begin) * 1e9 / decisions;
		}
		qsort(cost, repetitions, sizeof(*cost), ascending);
		printf("{\"tool\":\"rte_red\",\"pattern\":\"%s\",\"ns_min\":%.3f,"
		       "\"ns_median\":%.3f,\"dropped\":%.4f}\n",
		       patterns[p].name, cost[0], cost[repetitions / 2],
		       (double)drops / decisions);
	}
	free(cost);
	return 0;
}
