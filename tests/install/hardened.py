#!/usr/bin/env python3
"""Shows, from the program's own bytes (readelf), that it is hardened.

    hardened.py PROGRAM...
"""

import re
import subprocess
import sys


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True, text=True).stdout


def findings(program):
    segments, dynamic, symbols = readelf("-hl", program), readelf("-d", program), readelf("-s", program)
    return {
        "position-independent (PIE)": bool(re.search(r"Type:\s+DYN", segments)) and "PIE" in dynamic,
        "RELRO": "GNU_RELRO" in segments,
        "BIND_NOW": bool(re.search(r"BIND_NOW|FLAGS.*\bNOW\b", dynamic)),
        "a stack that is not executable": bool(re.search(r"GNU_STACK.*\bRW\b\s", segments)),
        "stack protector": "__stack_chk_fail" in symbols,
        "FORTIFY": bool(re.search(r"__\w+_chk\b", symbols)),
        "checked containers": bool(re.search(r"__glibcxx_assert_fail|__replacement_assert", symbols)),
    }


def main():
    failed = False
    for program in sys.argv[1:]:
        print(program)
        for what, found in findings(program).items():
            print(f"  {'yes' if found else 'NO '}  {what}")
            failed = failed or not found
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
