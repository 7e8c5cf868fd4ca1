# SPDX-License-Identifier: MIT
"""report.py FILE EXPRESSION...: is it as its schema says, and each true of the report r?

One path may have several violations: v(PATH, KEY) is the set of what they say.
"""
import json
import os
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
SCHEMA = os.path.join(os.path.dirname(__file__), "../../docs/report.schema.json")


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (name != "integer" or not isinstance(value, bool))


def faults(schema, value, where, top):
    """What of the value the schema does not allow; the part of JSON Schema that ours uses."""
    if "$ref" in schema:
        schema = top["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        found = [list(faults(one, value, where, top)) for one in schema["anyOf"]]
        yield from [] if [] in found else found[-1]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, one) for one in types):
        yield where + ": not of type " + str(types)
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        yield where + ": not one of those: " + str(value)
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield where + ": does not match: " + value
    if is_type(value, "integer") and value < schema.get("minimum", value):
        yield where + ": too small"
    if isinstance(value, list) and "items" in schema:
        for i, one in enumerate(value):
            yield from faults(schema["items"], one, "%s[%d]" % (where, i), top)
    if isinstance(value, dict) and "properties" in schema:
        for key in sorted(set(schema.get("required", [])) - set(value)):
            yield where + ": has no " + key
        for key, one in value.items():
            if key in schema["properties"]:
                yield from faults(schema["properties"][key], one, where + "." + key, top)
            else:
                yield where + ": has unknown " + key


def main(path, *expressions):
    with open(path, encoding="utf-8") as file:
        r = json.load(file)
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)

    def v(name, key):
        return {one[key] for one in r["violations"] if one["path"] == name}

    wrong = ["not true: " + text for text in expressions if not eval(text, {"r": r, "v": v})]
    wrong += list(faults(schema, r, "report", schema))
    if wrong:
        print(json.dumps(r, indent=1, ensure_ascii=False), file=sys.stderr)
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
