"""Writes decimal_powers.c: 128 bits of each power of five a double may need, by exact integers.

python3 io/decimal_powers.py > io/decimal_powers.c
"""

LOWEST, HIGHEST = -342, 308


def power(q):
    """The top 128 bits of 5**q, cut for q >= 0 and rounded up for q < 0."""
    if q >= 0:
        value = 5**q
        shift = value.bit_length() - 128
        return value >> shift if shift >= 0 else value << -shift
    divisor = 5**-q
    # 2**(b - 1) < divisor < 2**b, so the quotient below has exactly 128 bits
    return -(-(1 << (divisor.bit_length() + 127)) // divisor)


def main():
    print("/* Powers of five, 128 bits each (decimal.h). Made by decimal_powers.py: do not edit. */")
    print('#include "decimal.h"\n')
    print("const uint64_t decimal_power[2 * (DECIMAL_POWER_MAX - DECIMAL_POWER_MIN + 1)] = {")
    words = []
    for q in range(LOWEST, HIGHEST + 1):
        value = power(q)
        assert value.bit_length() == 128
        words += [value >> 64, value & (2**64 - 1)]
    for i in range(0, len(words), 4):
        line = ", ".join(f"0x{w:016x}" for w in words[i : i + 4])
        print(f"    {line},")
    print("};")


if __name__ == "__main__":
    main()
