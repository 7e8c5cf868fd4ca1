# SPDX-License-Identifier: MIT
"""report.py FILE EXPRESSION...: is each true of the report r?

One path may have several violations: v(PATH, KEY) is the set of what they say.
"""
import json
import sys


def main(path, *expressions):
    with open(path, encoding="utf-8") as file:
        r = json.load(file)

    def v(name, key):
        return {one[key] for one in r["violations"] if one["path"] == name}

    wrong = [text for text in expressions if not eval(text, {"r": r, "v": v})]
    if wrong:
        print(json.dumps(r, indent=1, ensure_ascii=False), file=sys.stderr)
    for text in wrong:
        print("not true:", text, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
