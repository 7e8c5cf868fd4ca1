# SPDX-License-Identifier: MIT
"""The recipes of docs/recipes.md, run as they stand there.

    17-recipes.py HOLDFAST SUPPORT [RECIPE...]

Each on a small project with a test that writes to config.toml: 97, the file as before, and the violation told.  What
apt-get has for little is demanded; the other tools are tried where they are.  With names, only these are, and demanded.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What apt-get has given its modules to.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
CONFIG = "# kept by hand\nvalue = 1\n"
LIMIT = 120
PYTEST = {"tests/test_a.py": "def test_harmless():\n    assert open('config.toml').read()\n\n\n"
                             "def test_damage():\n    open('config.toml', 'w').write('x')\n"}
UNITTEST = {"tests/__init__.py": "", "tests/test_a.py": "import unittest\n\n\nclass Damage(unittest.TestCase):\n"
            "    def test_damage(self):\n        open('config.toml', 'w').close()\n"}
MESON = {"meson.build": "project('x')\ntest('damage', find_program('damage.sh'))\n",
         "damage.sh": "#!/bin/sh\necho x >>\"$(dirname \"$0\")/config.toml\"\n"}
NODE = "const test = require('node:test');\nconst fs = require('node:fs');\n" \
       "test('damage', () => fs.writeFileSync('config.toml', 'x'));\n"

# What the project has, what it needs, what of the test is named, and whether it is demanded.
RECIPES = {
    "pytest": (PYTEST, "python3", "tests/test_a.py::test_damage", True),
    "unittest": (UNITTEST, "python3", "python3", True),
    "CTest": ({"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nenable_testing()\n"
               "add_test(NAME damage COMMAND sh -c \"echo x >>config.toml\" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})\n"},
              "ctest", "sh", True),
    "Meson": (MESON, "meson", "sh", True),
    "ninja": (MESON, "ninja", "sh", True),
    "make": ({"Makefile": "all:\n\t@true\ncheck:\n\techo x >>config.toml\n"}, "make", "", True),
    "bats": ({"tests/a.bats": "@test damage {\n\techo x >>config.toml\n}\n"}, "bats", "tests/a.bats", True),
    "tox": ({"tox.ini": "[tox]\nskipsdist = true\nenvlist = py\n[testenv]\nskip_install = true\n"
             "commands = python -c \"open('config.toml', 'a').write('x')\"\n"}, "tox", "python", True),
    "npm": ({"package.json": '{"scripts": {"test": "node --test"}}', "test/a.test.js": NODE}, "npm", "node", False),
    "cargo": ({"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
               "src/lib.rs": "#[test]\nfn damage() {\n    std::fs::write(\"config.toml\", \"x\").unwrap();\n}\n"},
              "cargo", "damage", False),
    "go": ({"go.mod": "module x\n\ngo 1.19\n", "x_test.go": "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n"
            "func TestDamage(t *testing.T) {\n\tif os.WriteFile(\"config.toml\", nil, 0o644) != nil {\n"
            "\t\tt.Fatal(\"refused\")\n\t}\n}\n"}, "go", "x.test", False),
    "vitest": ({"package.json": '{"type": "module"}', "a.test.js": "import { test } from 'vitest';\n"
                "import fs from 'node:fs';\ntest('damage', () => fs.writeFileSync('config.toml', 'x'));\n"},
               "npx", "node", False),
}


def fail(what):
    sys.exit("17-recipes: " + what)


def blocks():
    """section -> [(language, text)] of the page"""
    found = {}
    with open(os.path.join(TOP, "docs/recipes.md"), encoding="utf-8") as page:
        for part in re.split(r"^## ", page.read(), flags=re.M)[1:]:
            title, text = part.split("\n", 1)
            found[title] = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    return found


def environment(place):
    """As a person has it, but for the state, and holdfast among the programs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST", "GIT_", "NODE_TEST"))}
    kept.update(XDG_STATE_HOME=os.path.join(place, "state"), PATH=place + "/bin:" + os.environ["PATH"],
                npm_config_cache=place + "/npm", npm_config_update_notifier="false")
    return kept


def try_recipe(name, script, place):
    files, _tool, told, _is_demanded = RECIPES[name]
    project = os.path.join(place, "project")
    os.makedirs(os.path.join(project, ".git"))
    os.makedirs(os.path.join(place, "bin"))
    os.symlink(HOLDFAST, os.path.join(place, "bin/holdfast"))
    os.symlink(PYTHON, os.path.join(place, "bin/python3"))
    for path, text in dict(files, **{"config.toml": CONFIG}).items():
        path = os.path.join(project, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if path.endswith(".sh"):
            os.chmod(path, 0o755)
    if name == "vitest" and not has_got_vitest(project):
        return False
    ran = subprocess.run(["sh", "-e", "-c", script], cwd=project, env=environment(place), stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
    said = ran.stdout.decode("utf-8", "replace")
    if ran.returncode != 97:
        fail("%s: %d instead of 97:\n%s" % (name, ran.returncode, said))
    line = re.search(r"^holdfast: config\.toml: .*$", said, re.M)
    if not line or told not in line.group():
        fail("%s: '%s' is not named:\n%s" % (name, told, said))
    with open(os.path.join(project, "config.toml"), encoding="utf-8") as file:
        if file.read() != CONFIG:
            fail("%s: config.toml is not as before" % name)
    return True


def has_got_vitest(project):
    """From a registry, which is not everywhere."""
    try:
        return subprocess.run(["npm", "install", "--fetch-retries=0", "vitest"], cwd=project, check=False,
                              timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def try_recipes(found, names):
    tried = left_out = 0
    for name, (_files, tool, _told, is_demanded) in RECIPES.items():
        if not found.get(name):
            fail("docs/recipes.md has no '%s'" % name)
        if names and name not in names:
            continue
        if not shutil.which(tool):
            if is_demanded or names:
                fail("%s is not there" % tool)
            left_out += 1
            continue
        with tempfile.TemporaryDirectory(prefix="hf-e2e-") as place:
            has_tool = try_recipe(name, found[name][0][1], place)
        if not has_tool and names:
            fail("%s cannot be had" % name)
        tried += has_tool
        left_out += not has_tool
    print("%d tried, %d without their tool" % (tried, left_out))


def commands(node):
    """Every line of a script in a CI file."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "script", "before_script"):
                yield from ("\n".join(value) if isinstance(value, list) else value).splitlines()
            else:
                yield from commands(value)
    elif isinstance(node, list):
        for one in node:
            yield from commands(one)


def check_ci(title, texts):
    """It is YAML, installs what is needed to build, and its options are ours."""
    with open(os.path.join(TOP, "tests/packages.sh"), encoding="utf-8") as file:
        needed = re.search(r"packages_build='([^']*)'", file.read()).group(1).split()
    parsed = subprocess.run([PYTHON, "-c", "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"],
                            input=texts[0][1].encode(), stdout=subprocess.PIPE, check=True).stdout
    lines = list(commands(json.loads(parsed)))
    installs = " ".join(line for line in lines if "apt-get install" in line).split()
    lacking = [one for one in needed if one != "scdoc" and one not in installs]
    if lacking:
        fail("%s: does not install %s" % (title, " ".join(lacking)))
    runs = [line for line in lines if line.startswith("holdfast run ")]
    if len(runs) != 1:
        fail("%s: no run" % title)
    with tempfile.TemporaryDirectory(prefix="hf-e2e-") as place:
        with open(os.path.join(place, "config.toml"), "w", encoding="utf-8") as file:
            file.write(CONFIG)
        line = runs[0].replace("holdfast run", "'%s' run --dry-run" % HOLDFAST)
        env = dict(environment(place), RUNNER_TEMP=place)
        subprocess.run(["sh", "-e", "-c", line], cwd=place, env=env, check=True, stdout=subprocess.DEVNULL)


def check_links():
    """Each leads to a page that is there, and to a heading in it."""
    with open(os.path.join(TOP, "docs/recipes.md"), encoding="utf-8") as page:
        links = re.findall(r"\]\(([a-z.]+)(?:#([a-z-]+))?\)", page.read())
    for name, anchor in links:
        with open(os.path.join(TOP, "docs", name), encoding="utf-8") as page:
            headings = re.findall(r"^#+ (.*)$", page.read(), re.M)
        if anchor and anchor not in [one.lower().replace(" ", "-") for one in headings]:
            fail("docs/%s has no heading for #%s" % (name, anchor))


def main():
    found = blocks()
    check_links()
    try_recipes(found, sys.argv[3:])
    for title in ("GitHub Actions", "GitLab CI"):
        check_ci(title, found[title])
    with open(os.path.join(TOP, "docs/recipes.md"), encoding="utf-8") as page:
        json.loads(re.search(r"^```json\n(.*?)^```$", page.read(), re.M | re.S).group(1))


main()
