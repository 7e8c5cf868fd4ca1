/* SPDX-License-Identifier: MIT */
/* Parse the command line by one table. */
#include "cli/options.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/options_internal.h"
#include "cli/suggest.h"

#define IN(name)	(1u << HF_COMMAND_##name)
#define ALL		((1u << HF_COMMANDS) - 1)
#define PROJECT		(ALL & ~IN(HELP))	/* that look at a project */
#define POLICY		(PROJECT & ~IN(DOCTOR)) /* and what it protects */

static const struct hf_option table[] = {
	{ "root", "DIR", "the project's directory", PROJECT, OPTION_ROOT, 0 },
	{ "config", "FILE", "the policy file, instead of holdfast.json",
	  PROJECT & ~IN(INIT), OPTION_CONFIG, 0 },
	{ "store", "DIR", "where snapshots and kept copies lie", POLICY,
	  OPTION_STORE, 0 },
	{ "store", NULL, "alone: read and check every byte of the store",
	  IN(VERIFY), OPTION_CHECK_STORE, 0 },
	{ "protect", "GLOB", "protect this (repeatable)", POLICY,
	  OPTION_PROTECT, 0 },
	{ "exclude", "GLOB", "do not protect this (repeatable)", POLICY,
	  OPTION_EXCLUDE, 0 },
	{ "all", NULL, "every snapshot, not the newest alone", IN(EXPORT),
	  OPTION_ALL, 0 },
	{ "allow", "GLOB", "what the command may change (repeatable)", IN(RUN),
	  OPTION_ALLOW, 0 },
	{ "annotations", "FORM", "github or none: errors for a runner's page",
	  IN(RUN), OPTION_ANNOTATIONS, 0 },
	{ "fail-fast", NULL, "end the command at the first violation", IN(RUN),
	  OPTION_FAIL_FAST, 'x' },
	{ "gate", "MODE", "auto, require or off: refuse changes outright",
	  IN(RUN), OPTION_GATE, 0 },
	{ "junit", "FILE", "write a JUnit report there, a case a violation",
	  IN(RUN), OPTION_JUNIT, 0 },
	{ "keep-going", NULL, "put back at once and let the command go on",
	  IN(RUN), OPTION_KEEP_GOING, 0 },
	{ "leftovers", "MODE", "end or wait: processes left behind", IN(RUN),
	  OPTION_LEFTOVERS, 0 },
	{ "min-protected", "N", "fail when fewer entries are protected",
	  IN(RUN), OPTION_MIN_PROTECTED, 0 },
	{ "report", "FILE", "write the JSON report there (also fd:N)",
	  IN(RUN), OPTION_REPORT, 0 },
	{ "dry-run", NULL, "say what would be done, and do nothing",
	  IN(RUN) | IN(RESTORE) | IN(UNDO) | IN(KEPT) |
	  IN(PRUNE) | IN(PURGE) | IN(INIT), OPTION_DRY_RUN, 0 },
	{ "from", "SNAPSHOT", "put back what this snapshot holds", IN(RESTORE),
	  OPTION_FROM, 0 },
	{ "to", "DIR", "write copies into DIR, and leave the tree alone",
	  IN(RESTORE), OPTION_TO, 0 },
	{ "remove-additions", NULL, "move what the snapshot lacks away",
	  IN(RESTORE), OPTION_REMOVE_ADDITIONS, 0 },
	{ "put-back", NULL, "put the paths behind it back; all, on a terminal",
	  IN(RECOVER), OPTION_PUT_BACK, 0 },
	{ "keep-mine", NULL, "keep the paths behind it as they are; all, too",
	  IN(RECOVER), OPTION_KEEP_MINE, 0 },
	{ "path", "FILE", "the contents that this file has had", IN(LOG),
	  OPTION_PATH, 0 },
	{ "limit", "N", "how many lines at most", IN(LOG), OPTION_LIMIT, 'n' },
	{ "yes", NULL, "do not ask", IN(PRUNE) | IN(PURGE) |
	  IN(STORE), OPTION_YES, 0 },
	{ "json", NULL, "print JSON", PROJECT & ~IN(RUN), OPTION_JSON, 0 },
	{ "quiet", NULL, "say only what went wrong", ALL, OPTION_QUIET, 'q' },
	{ "verbose", NULL, "say more", ALL, OPTION_VERBOSE, 'v' },
	{ "completion", "SHELL", "print what bash, zsh or fish complete",
	  IN(HELP), OPTION_COMPLETION, 0 },
	{ "color", "WHEN", "auto, always or never", ALL, OPTION_COLOR, 0 },
	{ "help", NULL, "describe the command", ALL, OPTION_HELP, 'h' },
};

const struct hf_option *hf_options_at(size_t index)
{
	return index < HF_COUNT(table) ? &table[index] : NULL;
}

/* -- finding --------------------------------------------------------------- */

static int fail_unknown(enum hf_command_id command, const char *name,
			size_t len, struct hf_error *err)
{
	char typed[64] = "";
	struct hf_suggestion suggestion = { .typed = typed };

	if (len < sizeof(typed))
		memcpy(typed, name, len);
	for (size_t i = 0; i < HF_COUNT(table); i++) {
		if (strcmp(table[i].name, typed) == 0) {
			(void)hf_fail(err, HF_ERR_USAGE,
				      "cannot use '--%s' here: it belongs to "
				      "another command", typed);
			return table[i].id == OPTION_JSON ?
				       hf_fail_hint(err, "'--report FILE' "
							 "writes the report of "
							 "a run as JSON") :
				       err->code;
		}
		if (table[i].commands & (1u << command))
			hf_suggest(&suggestion, table[i].name);
	}
	(void)hf_fail(err, HF_ERR_USAGE, "cannot use '--%s': no such option",
		      HF_QUOTE(typed[0] == '\0' ? name : typed));
	if (suggestion.nearest != NULL)
		return hf_fail_hint(err, "did you mean '--%s'?",
				    suggestion.nearest);
	return err->code;
}

static const struct hf_option *find_long(enum hf_command_id command,
					 const char *name, size_t len)
{
	for (size_t i = 0; i < HF_COUNT(table); i++)
		if ((table[i].commands & (1u << command)) &&
		    strlen(table[i].name) == len &&
		    memcmp(table[i].name, name, len) == 0)
			return &table[i];
	return NULL;
}

static const struct hf_option *find_short(enum hf_command_id command,
					  int letter)
{
	for (size_t i = 0; i < HF_COUNT(table); i++)
		if ((table[i].commands & (1u << command)) &&
		    table[i].letter == letter && letter != '\0')
			return &table[i];
	return NULL;
}

static int fail_value(const struct hf_option *option, struct hf_error *err)
{
	if (option->argument == NULL)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '--%s' with a value", option->name);
	return hf_fail(err, HF_ERR_USAGE,
		       "cannot use '--%s' without a value: it needs %s",
		       option->name, option->argument);
}

/* -- parsing --------------------------------------------------------------- */

#define IS_WORD		1	/* what getopt_long() says of no option */
#define IS_LONG		0x100	/* beyond every letter */

/* What getopt_long() wants to know of one command's options. */
struct grammar {
	struct option longs[HF_COUNT(table) + 1];
	char letters[2 * HF_COUNT(table) + 2];
};

/*
 * "+" stops at the first word that is no option, "-" hands every such word over
 * in its place: unlike the default neither asks the environment, nor moves words
 * about.
 */
static void make_grammar(struct grammar *grammar, enum hf_command_id command)
{
	struct option *at = grammar->longs;
	char *letter = grammar->letters;

	*letter++ = command == HF_COMMAND_RUN ? '+' : '-';
	for (size_t i = 0; i < HF_COUNT(table); i++) {
		const bool has_value = table[i].argument != NULL;

		if (!(table[i].commands & (1u << command)))
			continue;
		*at++ = (struct option){
			.name = table[i].name,
			.has_arg = has_value ? required_argument : no_argument,
			.val = IS_LONG,
		};
		if (table[i].letter == '\0')
			continue;
		*letter++ = table[i].letter;
		if (has_value)
			*letter++ = ':';
	}
	*at = (struct option){ .name = NULL };
	*letter = '\0';
}

static void add_word(struct hf_options *options, const char *word)
{
	if (options->list != NULL)
		hf_options_append(options->list, word);
	else
		options->words[options->word_count++] = word;
}

/* found: what getopt_long() said of word, or of a letter in it. */
static int take(struct hf_options *options, enum hf_command_id command,
		const char *word, int found, struct hf_error *err)
{
	const bool is_long = word[0] == '-' && word[1] == '-';
	const bool has_failed = found == '?';
	const struct hf_option *option;
	size_t len;

	if (found == IS_WORD) {
		add_word(options, optarg);
		return 0;
	}
	if (is_long) {
		/* getopt_long() takes a beginning too.  Scripts would rely on
		 * one, and a later option could make it mean another. */
		len = strcspn(word + 2, "=");
		option = find_long(command, word + 2, len);
		if (option == NULL)
			return fail_unknown(command, word + 2, len, err);
	} else {
		option = find_short(command, has_failed ? optopt : found);
		if (option == NULL)
			return hf_fail(err, HF_ERR_USAGE,
				       "cannot use '%s': no such option",
				       HF_QUOTE(word));
	}
	return has_failed ? fail_value(option, err) :
			    hf_options_apply(options, option, optarg, err);
}

/* words begins with a name that is not looked at. */
static int parse(struct hf_options *options, enum hf_command_id command,
		 int count, char *const *words, struct hf_error *err)
{
	struct grammar grammar;
	int found = 0;
	int rc;

	make_grammar(&grammar, command);
	opterr = 0;
	optind = 0; /* from the start, whatever was parsed before */
	while (found >= 0) {
		const int at = optind > 0 ? optind : 1;
		const char *word = words[at];

		found = getopt_long(count, words, grammar.letters,
				    grammar.longs, NULL);
		if (found < 0) {
			/* The "--" is passed over, and told by that alone. */
			options->has_dashes = optind > at && optind <= count;
			break;
		}
		rc = take(options, command, word, found, err);
		if (rc < 0)
			return rc;
	}
	options->before_dashes = options->word_count;
	while (optind < count)
		add_word(options, words[optind++]);
	return 0;
}

/* An option that has a value or, as the last word or in front of another, none. */
static const struct hf_option *find_alone(enum hf_command_id command,
					  const char *const *words)
{
	const struct hf_option *found = NULL;

	if (strncmp(words[0], "--", 2) != 0 ||
	    (words[1] != NULL && words[1][0] != '-'))
		return NULL;
	for (size_t i = 0; i < HF_COUNT(table); i++)
		if ((table[i].commands & (1u << command)) &&
		    strcmp(table[i].name, words[0] + 2) == 0)
			found = found == NULL || !table[i].argument ?
					&table[i] : found;
	return found != NULL && found != find_long(command, found->name,
						   strlen(found->name)) ?
		       found : NULL;
}

/* The words without those, which getopt_long() could not tell. */
static int take_alone(struct hf_options *options, enum hf_command_id command,
		      const char *const *argv, char **words, size_t *count,
		      struct hf_error *err)
{
	bool has_ended = false;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < *count; i++) {
		const struct hf_option *const option =
			has_ended ? NULL : find_alone(command, argv + i);

		has_ended |= strcmp(argv[i], "--") == 0;
		if (option)
			rc = hf_options_apply(options, option, NULL, err);
		else
			memcpy(&words[kept++], &argv[i], sizeof(*words));
	}
	words[kept] = NULL;
	*count = kept;
	return rc;
}

/* Room for all of argv in every list: nothing can grow beyond it. */
static int make_lists(struct hf_options *options, size_t room,
		      struct hf_error *err)
{
	const char ***const lists[] = {&options->words,	   &options->protect,
				       &options->exclude,  &options->allow,
				       &options->put_back, &options->keep_mine};

	for (size_t i = 0; i < HF_COUNT(lists); i++) {
		*lists[i] = calloc(room, sizeof(const char *));
		if (*lists[i] == NULL)
			return hf_fail_memory(err);
	}
	options->policy.protect = options->protect;
	options->policy.exclude = options->exclude;
	options->policy.allow = options->allow;
	return 0;
}

int hf_options_parse(struct hf_options *options, enum hf_command_id command,
		     const char *const *argv, struct hf_error *err)
{
	char no_name[] = "";
	cleanup_free char **words = NULL;
	size_t count = 0;
	int rc;

	while (argv[count] != NULL)
		count++;
	if (count >= INT_MAX - 1)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use more than %d arguments", INT_MAX);
	rc = make_lists(options, count + 1, err);
	if (rc < 0)
		return rc;
	words = calloc(count + 2, sizeof(*words));
	if (words == NULL)
		return hf_fail_memory(err);
	words[0] = no_name;
	rc = take_alone(options, command, argv, words + 1, &count, err);
	if (rc < 0)
		return rc;
	return parse(options, command, (int)count + 1, words, err);
}

void hf_options_done(struct hf_options *options)
{
	hf_free_pointee(&options->words);
	hf_free_pointee(&options->protect);
	hf_free_pointee(&options->exclude);
	hf_free_pointee(&options->allow);
	hf_free_pointee(&options->put_back);
	hf_free_pointee(&options->keep_mine);
}
