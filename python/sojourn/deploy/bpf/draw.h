/* Whether a law hits a packet, in 64-bit integers. Whoever includes this defines
 *
 *   SIZE_UNIT  what a byte is in mean packets, times 2^64, rounded up, if the probability grows with
 *              the packet's size; 0 if all packets are alike */
#pragma once

#define CERTAIN (1LL << 60) /* p = 1 */

/* The upper half of a product. */
static inline unsigned long long product_high(unsigned long long a, unsigned long long b)
{
	unsigned long long a0 = (unsigned int)a, a1 = a >> 32, b0 = (unsigned int)b, b1 = b >> 32;
	unsigned long long middle = a1 * b0 + (a0 * b0 >> 32);

	return a1 * b1 + (middle >> 32) + ((a0 * b1 + (unsigned int)middle) >> 32);
}

/* The probability for one packet where that of a mean one is p, both times 2^60: the packet is as
 * many mean packets as this says with 36 fraction bits. */
static inline long long scaled(long long p, unsigned int bytes)
{
	unsigned long long packets, high;

	if (SIZE_UNIT == 0)
		return p;
	packets = product_high(SIZE_UNIT, bytes) << 36 | SIZE_UNIT * bytes >> 28;
	high = product_high(p, packets);
	/* Of the product, 96 bits are fraction. */
	if (high >> 32)
		return CERTAIN;
	return high << 28 | (unsigned long long)p * packets >> 36;
}

/* Whether a packet is hit that is so with probability p; `random` is a number of 64 random bits. */
static inline int hits(long long p, unsigned long long random)
{
	return (long long)(random >> 4) < p;
}
