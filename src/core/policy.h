/* SPDX-License-Identifier: MIT */
/*
 * What is protected and what happens when it changes: from flags and
 * holdfast.json.  No environment variable takes part.
 *
 *	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
 *
 *	rc = hf_policy_find(&options, &root, &file, err);
 *	rc = hf_policy_load(&policy, &options, root, file, err);
 */
#ifndef HF_CORE_POLICY_H
#define HF_CORE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/pattern.h"

struct hf_error;

#define HF_POLICY_NAME		"holdfast.json"
#define HF_POLICY_DEFAULT	"*.toml"

/* Each enum's values are in the order of the words that name them in the file;
 * the first is the default. */
enum hf_gate_mode { HF_GATE_AUTO, HF_GATE_REQUIRE, HF_GATE_OFF };
enum hf_read_write_opens { HF_OPENS_OBSERVE, HF_OPENS_REFUSE };
enum hf_on_landed { HF_LANDED_STOP, HF_LANDED_KEEP_GOING };
enum hf_on_outside { HF_OUTSIDE_STAY, HF_OUTSIDE_RESTORE };
enum hf_on_drift { HF_DRIFT_SAY, HF_DRIFT_STOP };
enum hf_leftovers { HF_LEFTOVERS_END, HF_LEFTOVERS_WAIT };

struct hf_retention {
	uint64_t contents;	/* newest distinct contents of a path: 20 */
	uint64_t days;		/* 90 */
	uint64_t bytes;		/* 2 GiB */
};

/* "commands": more is allowed for commands that match. */
struct hf_command_rule {
	char *match;		/* against the words joined by one space */
	struct hf_patterns *allow;
};

struct hf_policy {
	struct hf_patterns *protect;
	struct hf_patterns *allow;
	struct hf_command_rule *commands;
	size_t command_count;
	enum hf_gate_mode gate;
	/* For update, without truncation: no change by itself. */
	enum hf_read_write_opens read_write_opens;
	enum hf_on_landed on_landed;
	enum hf_on_outside on_outside;
	enum hf_on_drift on_drift;
	enum hf_leftovers leftovers;
	uint64_t min_protected;	/* 1 */
	struct hf_retention retention;
	char *root;		/* as it was given to hf_policy_load() */
	/* The policy file in use or NULL: its directory is canonical, itself it
	 * may be a link. */
	char *file;
	/* The policy file as an entry's path: relative beneath the root. */
	char *file_entry;
};

#define HF_POLICY_INIT	{ .protect = NULL }
#define cleanup_policy	CLEANUP(hf_policy_done)

/* What comes from the command line; everything may be NULL or unset. */
struct hf_policy_options {
	const char *root;
	const char *config;
	const char *const *protect;	/* NULL-terminated */
	const char *const *exclude;	/* NULL-terminated, without "!" */
	const char *const *allow;	/* NULL-terminated */
	bool has_gate;
	enum hf_gate_mode gate;
	bool has_on_landed;
	enum hf_on_landed on_landed;
	bool has_leftovers;
	enum hf_leftovers leftovers;
	bool has_min_protected;
	uint64_t min_protected;
};

/*
 * Discovery, as holdfast(1) tells it: the canonical root, and the policy file
 * or NULL; both to free().  The policy file is --config, else the nearest
 * holdfast.json from the working directory upwards, not beyond the first
 * directory that holds .git, a file-system boundary or the home directory.
 * HF_ERR_DENIED when one that was found is owned by neither the user nor root
 * (one that was named is trusted); HF_ERR_USAGE when --root is no directory or
 * the file cannot be read.
 */
MUST_CHECK int hf_policy_find(const struct hf_policy_options *options,
			      char **ret_root, char **ret_file,
			      struct hf_error *err);

/*
 * Read file (NULL: none), then lay the options over it: patterns of options
 * come behind those of the file; the default pattern counts when the file has
 * no "protect" and the options none either.  The policy file itself is
 * protected at last, whatever "!" and "allow" say.  All failures are
 * HF_ERR_USAGE (with line and column), HF_ERR_DENIED as above, HF_ERR_LIMIT or
 * HF_ERR_SYSTEM.  *policy must be HF_POLICY_INIT.
 */
MUST_CHECK int hf_policy_load(struct hf_policy *policy,
			      const struct hf_policy_options *options,
			      const char *root, const char *file,
			      struct hf_error *err);

/*
 * The parser behind it: text of a policy file; name is for messages, home
 * replaces "~" in patterns (NULL: looked up in the user database when needed).
 * protect and allow stay NULL when the file does not have these keys.
 */
MUST_CHECK int hf_policy_parse(struct hf_policy *policy, const char *name,
			       const char *text, size_t len, const char *home,
			       struct hf_error *err);

/* May this command change path?  The "allow" in force for a command line. */
const char *hf_policy_allows(const struct hf_policy *policy,
			     const char *const *argv, const char *path,
			     bool is_directory);

void hf_policy_done(struct hf_policy *policy);

#endif /* HF_CORE_POLICY_H */
