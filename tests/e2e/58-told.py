# SPDX-License-Identifier: MIT
"""58-told.py PROGRAM HELPERS: can others read what is told of hostile names?

The names hold every byte; the parsers are Python's.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(__file__)
HELPERS = sys.argv[2]
wrong = []


def check(what, is_true):
    if not is_true:
        wrong.append(what)


def told(form):
    return subprocess.run([os.path.join(HELPERS, "told"), form], check=True, stdout=subprocess.PIPE).stdout


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "report.json")
    with open(path, "wb") as file:
        file.write(told("json"))
    answer = subprocess.run([sys.executable, os.path.join(HERE, "report.py"), path,
                             "len(r['violations']) == 3", "r['violations'][0]['count'] == 5000",
                             "r['violations'][0]['process']['pid'] == 4711",
                             "len(r['outside']) == 2", "r['outside'][0]['changed']",
                             "r['outside'][1]['path_bytes'] is not None", "len(r['side_effects']) == 1"])
    check("the report and its schema", answer.returncode == 0)

suites = ElementTree.fromstring(told("junit"))
check("testsuites", suites.tag == "testsuites" and [one.tag for one in suites] == ["testsuite"])
cases = suites[0].findall("testcase")
check("four cases", len(cases) == 4 == int(suites.get("tests")) == int(suites[0].get("failures")))
check("names differ", len({(one.get("classname"), one.get("name")) for one in cases}) == 4)
check("a failure each", all([part.tag for part in one] == ["failure"] for one in cases))
check("messages of one line", all("\n" not in one[0].get("message") for one in cases))
check("more than one line", all(one[0].text.count("\n") >= 2 for one in cases))
check("the test", any(one.get("name").startswith("t[::]]>]: ") for one in cases))
check("the end of raw text", any("]]>" in one[0].text for one in cases))

lines = told("github").decode("utf-8").splitlines()
check("four annotations", len(lines) == 4)
for line in lines:
    check("a command: " + line, re.fullmatch(r"::error (file=[^,:]+,)?title=[^,:]+::[^\x00-\x1f\x7f-\x9f]+", line))
    check("a bare per cent sign: " + line, not re.search("%(?!25|3A|2C)", line))

for text in wrong:
    print("58-told: wrong: " + text, file=sys.stderr)
sys.exit(1 if wrong else 0)
