/* SPDX-License-Identifier: MIT */
/* Names of data, of source text, and of what tools make: lists alone. */
#include "core/data_name.h"

#include <string.h>

#include "base/defs.h"

/* The likeliest first. */
static const char *const endings[] = {
	".toml",   ".json",    ".yaml",	  ".yml",    ".ini",	 ".cfg",
	".db",	   ".sqlite",  ".sqlite3", ".conf",  ".csv",	 ".tsv",
	".jsonl",  ".ndjson",  ".env",	  ".properties", ".parquet", ".npy",
	".npz",	   ".h5",      ".hdf5",	  ".pkl",    ".pickle",  ".feather",
	".arrow",  ".avro",    ".xlsx",	  ".ods",    ".sql",	 ".pem",
	".key",	   ".kdbx",    ".geojson",
};

static const char *const kept_by_tools[] = {
	"package.json", "package-lock.json", "npm-shrinkwrap.json",
	"pnpm-lock.yaml", "tsconfig.json", "jsconfig.json", "deno.json",
	"composer.json", "pyproject.toml", "Cargo.toml", "setup.cfg",
	"tox.ini", "pytest.ini", "mypy.ini", "coverage.json",
	"compile_commands.json", "CMakePresets.json", "CMakeUserPresets.json",
	"pyvenv.cfg",
};

static const char *const code[] = {
	".c",	".h",	 ".cc",	  ".cpp", ".hpp", ".py",  ".js",  ".mjs",
	".cjs", ".ts",	 ".tsx",  ".jsx", ".rs",  ".go",  ".rb",  ".java",
	".kt",	".swift", ".sh",  ".bash", ".pl", ".php", ".lua", ".cs",
	".scala", ".vue", ".css", ".html", ".bats", ".cmake", ".hs", ".zig",
};

static const char *const data_directories[] = {
	"data",	    "datas",	 "dataset", "datasets", "fixture", "fixtures",
	"sample",   "samples",	 "testdata", "test-data", "test_data",
	"sample-data", "sample_data", "golden", "corpus", "presets",
};

static const char *const outputs[] = {
	"node_modules", "__pycache__", "build", "dist", "out", "target",
	"coverage", "htmlcov", "tmp", "temp", "log", "logs", "cache",
	"vendor", "third_party", "bin", "obj", "venv", "env", "CVS", "_darcs",
	"_build", "site-packages", "builddir", "__snapshots__",
};

static const char *const marks[] = {
	"pyvenv.cfg", "CACHEDIR.TAG", "CMakeCache.txt", "build.ninja", ".git",
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* The place of name's ending in a list; count when it has none of them. */
static size_t ending_of(const char *name, const char *const *list, size_t count)
{
	const size_t len = strlen(name);
	size_t i;

	for (i = 0; i < count; i++) {
		const size_t end = strlen(list[i]);

		if (len > end && strcmp(name + len - end, list[i]) == 0)
			break;
	}
	return i;
}

/* ".env", ".env.local": what a project is started with, and git mostly ignores. */
static bool is_environment(const char *name)
{
	return strcmp(name, ".env") == 0 || strcmp(name, ".envrc") == 0 ||
	       strncmp(name, ".env.", 5) == 0;
}

size_t hf_data_rank(const char *name)
{
	const size_t rank = ending_of(name, endings, HF_COUNT(endings));

	if (is_environment(name))
		return HF_COUNT(endings);
	if (name[0] == '.' || rank == HF_COUNT(endings) ||
	    is_one_of(name, kept_by_tools, HF_COUNT(kept_by_tools)))
		return HF_DATA_NONE;
	return rank;
}

const char *hf_data_ending(const char *name)
{
	const size_t rank = hf_data_rank(name);

	return rank < HF_COUNT(endings) ? endings[rank] : "";
}

bool hf_data_is_code(const char *name)
{
	return ending_of(name, code, HF_COUNT(code)) < HF_COUNT(code);
}

bool hf_data_is_directory(const char *name)
{
	return is_one_of(name, data_directories, HF_COUNT(data_directories));
}

bool hf_data_is_output(const char *name)
{
	return name[0] == '.' || strncmp(name, "build-", 6) == 0 ||
	       strncmp(name, "cmake-build", 11) == 0 ||
	       is_one_of(name, outputs, HF_COUNT(outputs));
}

bool hf_data_is_mark(const char *name)
{
	return is_one_of(name, marks, HF_COUNT(marks));
}
