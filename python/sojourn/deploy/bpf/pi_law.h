/* PI in 64-bit integers: the controller of Hollot, Misra, Towsley and Gong (INFOCOM 2001) as a
 * kernel can run it, without floating point and without 128-bit products.
 *
 * Probability and gains have 60 fraction bits, the queue is a whole number of packets or bytes.
 * Whoever includes this defines
 *
 *   PI_A          the gain a, per unit of queue
 *   PI_DIFFERENCE a - b
 *   PI_QREF       the whole part of the setpoint
 *   PI_OFFSET     what its fraction adds to every step: round(-PI_DIFFERENCE * fraction)
 *   PI_PERIOD_NS  nanoseconds between two samples
 *
 * With a queue that is shorter than 2^62 / PI_A no product overflows. */

#include "draw.h"

#define PI_ONE CERTAIN

struct pi {
	unsigned long long next; /* the next instant, ns; 0 before the first packet */
	long long p;		 /* probability, times 2^60 */
	long long before;	 /* the queue at the last instant; below zero before the first */
};

static inline long long pi_clamped(long long p)
{
	return p < 0 ? 0 : p > PI_ONE ? PI_ONE : p;
}

/* What an instant adds to the probability. */
static inline long long pi_change(long long queue, long long before)
{
	return PI_A * (queue - before) + PI_DIFFERENCE * (before - PI_QREF) + PI_OFFSET;
}

/* Adds a change of at most 2^63 in size, and clamps the sum. */
static inline long long pi_moved(long long p, long long change)
{
	if (change > PI_ONE)
		return PI_ONE;
	if (change < -PI_ONE)
		return 0;
	return pi_clamped(p + change);
}

/* Takes all instants up to and including `now`, before which `queue` stood. Between two packets
 * the queue stands still, so all instants after the first add the same, and however long the
 * silence it is one step. */
static inline void pi_sample(struct pi *pi, unsigned long long now, long long queue)
{
	unsigned long long more;
	long long change;

	if (now < pi->next)
		return;
	more = (now - pi->next) / PI_PERIOD_NS;
	pi->next += (more + 1) * PI_PERIOD_NS;
	pi->p = pi_moved(pi->p, pi_change(queue, pi->before < 0 ? queue : pi->before));
	pi->before = queue;
	change = pi_change(queue, queue);
	if (more == 0 || change == 0)
		return;
	if (change > 0)
		pi->p = more > PI_ONE / (unsigned long long)change ?
				PI_ONE :
				pi_moved(pi->p, change * (long long)more);
	else
		pi->p = more > PI_ONE / (unsigned long long)-change ?
				0 :
				pi_moved(pi->p, change * (long long)more);
}

/* A packet comes: this law looks at the queue alone. */
static inline void pi_arrives(struct pi *pi, unsigned int units)
{
	(void)pi;
	(void)units;
}

/* What a queue under a law calls. */
#define LAW pi
#define LAW_BEGINNING { .before = -1 }
#define LAW_PERIOD_NS PI_PERIOD_NS
