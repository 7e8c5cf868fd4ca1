# SPDX-License-Identifier: MIT
"""report.py FILE EXPRESSION...: is each true of the report r?

v(PATH) is the one violation of a path.
"""
import json
import sys


def main(path, *expressions):
    with open(path, encoding="utf-8") as file:
        r = json.load(file)

    def v(name):
        found = [one for one in r["violations"] if one["path"] == name]
        assert len(found) == 1, f"{len(found)} violations of {name}"
        return found[0]

    wrong = [text for text in expressions if not eval(text, {"r": r, "v": v})]
    if wrong:
        print(json.dumps(r, indent=1, ensure_ascii=False), file=sys.stderr)
    for text in wrong:
        print("not true:", text, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
