/* REM in 64-bit integers: random exponential marking, Athuraliya, Li, Low and Yin (IEEE Network
 * 15(3), 2001), as a kernel can run it, without floating point and without 128-bit types.
 *
 *     price = max(0, price + gamma (arrivals + alpha (queue - qref) - C T))
 *     p     = 1 - phi^(-price)
 *
 * What is kept is x = price log2(phi) with 56 fraction bits, so that p = 1 - 2^-x. Arrivals, queue
 * and capacity have 36 fraction bits, in packets. Whoever includes this defines
 *
 *   REM_GAIN      gamma log2(phi), times 2^62
 *   REM_ALPHA     alpha, per unit of queue, times 2^36
 *   REM_OFFSET    what the setpoint adds to every step: round(-alpha qref 2^36)
 *   REM_UNIT      packets that an arriving unit is, times 2^36
 *   REM_MOST      most units that may arrive in a period
 *   REM_CAPACITY  C T, packets that the link sends in a period, times 2^36
 *   REM_PERIOD_NS nanoseconds between two samples
 *
 * A unit is a packet or a byte. Each of the terms of a step must stay below 2^60, then nothing
 * overflows; for the queue, whoever holds it sees to that by its limit. */

#include "draw.h"

#define REM_HIGHEST (64LL << 56) /* above this x, p is 1 to the last bit */

struct rem {
	unsigned long long next;     /* the next instant, ns; 0 before the first packet */
	unsigned long long arrivals; /* units since the last instant */
	long long x;		     /* price log2(phi), times 2^56 */
	long long p;		     /* probability, times 2^60 */
};

/* 2^-x for x >= 0 with 56 fraction bits, times 2^62: a table of sixteenths and the Taylor series. */
static inline unsigned long long rem_power(unsigned long long x)
{
	/* 2^(-i/16), times 2^63. */
	static const unsigned long long sixteenths[16] = {
		0x8000000000000000, 0x7a92be8a92436616, 0x75606373ee921c97, 0x70666f76154a7089,
		0x6ba27e656b4eb57a, 0x6712460a8fc24072, 0x62b39508aa836d6f, 0x5e8451cfac061b5f,
		0x5a827999fcef3242, 0x56ac1f752150a563, 0x52ff6b54d8a89c75, 0x4f7a993048d088d7,
		0x4c1bf828c6dc54b8, 0x48e1e9b9d588e19b, 0x45cae0f1f545eb73, 0x42d561b3e6243d8a,
	};
	/* (ln 2)^n / n!, times 2^63. */
	static const unsigned long long series[10] = {
		0x8000000000000000, 0x58b90bfbe8e7bcd6, 0x1ebfbdff82c58ea8, 0x071ac235c1282fe3,
		0x013b2ab6fba4e773, 0x002bb0ffcf14ce62, 0x00050c244be1b1e2, 0x00007ff2ff1622c3,
		0x00000b160111d2e4, 0x000000da929e9caf,
	};
	unsigned long long rest = (x << 8) & (~0ULL >> 4), sum = series[9];
	unsigned int whole = x >> 56;

	if (whole > 62)
		return 0;
	for (int n = 8; n >= 0; n--)
		sum = series[n] - product_high(sum, rest);
	return product_high(sixteenths[x >> 52 & 15], sum) >> whole;
}

/* What an instant adds to x: the gain times the excess, rounded, a half upwards. What would carry x
 * from one end to the other is all the same. */
static inline long long rem_change(long long arrivals, long long queue)
{
	long long excess = arrivals + REM_ALPHA * queue + REM_OFFSET - REM_CAPACITY;
	unsigned long long size = excess < 0 ? -excess : excess;
	unsigned long long low = REM_GAIN * size, high = product_high(REM_GAIN, size);
	unsigned long long half = excess < 0 ? (1ULL << 41) - 1 : 1ULL << 41;

	low += half;
	high += low < half;
	size = high >> 40 ? REM_HIGHEST : high << 22 | low >> 42;
	return excess < 0 ? -(long long)size : (long long)size;
}

/* x after a change that comes `times` times. */
static inline long long rem_moved(long long x, long long change, unsigned long long times)
{
	if (change == 0)
		return x;
	if (change > 0)
		return times > (unsigned long long)(REM_HIGHEST - x) / (unsigned long long)change ?
			       REM_HIGHEST :
			       x + change * (long long)times;
	return times > (unsigned long long)x / (unsigned long long)-change ?
		       0 :
		       x + change * (long long)times;
}

/* Takes all instants up to and including `now`, before which `queue` stood. Between two packets
 * nothing comes and the queue stands still, so all instants after the first add the same. */
static inline void rem_sample(struct rem *rem, unsigned long long now, long long queue)
{
	unsigned long long more, arrivals = rem->arrivals;

	if (now < rem->next)
		return;
	more = (now - rem->next) / REM_PERIOD_NS;
	rem->next += (more + 1) * REM_PERIOD_NS;
	rem->arrivals = 0;
	if (arrivals > REM_MOST)
		arrivals = REM_MOST;
	rem->x = rem_moved(rem->x, rem_change(arrivals * REM_UNIT, queue), 1);
	rem->x = rem_moved(rem->x, rem_change(0, queue), more);
	rem->p = ((1ULL << 62) - rem_power(rem->x) + 2) >> 2;
}

/* A packet comes, whatever becomes of it. */
static inline void rem_arrives(struct rem *rem, unsigned int units)
{
	rem->arrivals += units;
}

/* What a queue under a law calls. */
#define LAW rem
#define LAW_BEGINNING { 0 }
#define LAW_PERIOD_NS REM_PERIOD_NS
