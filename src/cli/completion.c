/* SPDX-License-Identifier: MIT */
/*
 * Scripts for shells: what is the same for every version stands here as text,
 *and calls three functions (for fish: lines) that are made from the tables.
 *What a value or a word may be is a list of kinds:
 *
 *	DIR FILE	paths
 *	SNAPSHOT	names in the store's directory: listing it takes no lock,
 *and no longer than reading the policy COMMAND		the names of commands
 *	anything else	itself
 */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/completion_internal.h"
#include "guard/hook_script.h"

#define SEPARATORS " []().|:"

/* -- kinds --------------------------------------------------------------------
 */

/* Is it in the list already? */
bool hf_completion_has_word(const char *list, const char *word, size_t len)
{
	for (const char *at = list; at && *at != '\0';) {
		const size_t start = strspn(at, " ");
		const size_t end = start + strcspn(at + start, " ");

		if (end - start == len && memcmp(at + start, word, len) == 0)
			return true;
		at += end;
	}
	return false;
}

static void add_word(const char *word, size_t len, size_t list_start,
		     struct hf_buffer *out)
{
	if (out->data && out->len > list_start &&
	    hf_completion_has_word(out->data + list_start, word, len))
		return;
	hf_buffer_add_text(out, " ");
	hf_buffer_add(out, word, len);
}

bool hf_completion_is_text(const char *at, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(at, text, len) == 0;
}

/* Nothing for what cannot be known: a number, an id, a command of the system.
 */
static void add_kind(const char *word, size_t len, size_t list_start,
		     struct hf_buffer *out)
{
	static const char *const kinds[][2] = {
		{"DIR", "DIR"},		  {"FILE", "FILE"},
		{"GLOB", "FILE"},	  {"PATH", "FILE"},
		{"SNAPSHOT", "SNAPSHOT"}, {"COMMAND", "COMMAND"},
	};
	const bool is_hook = hf_completion_is_text(word, len, "NAME");

	if (islower((unsigned char)word[0]) &&
	    !hf_completion_is_text(word, len, "options"))
		add_word(word, len, list_start, out);
	for (unsigned i = 0; is_hook && i < HF_HOOKS; i++) {
		const char *const name = hf_hook_name((enum hf_hook)i);

		add_word(name, strlen(name), list_start, out);
	}
	for (size_t i = 0; i < HF_COUNT(kinds); i++)
		if (hf_completion_is_text(word, len, kinds[i][0]))
			add_word(kinds[i][1], strlen(kinds[i][1]), list_start,
				 out);
}

/* "--from", behind which no word of the command stands. */
static bool takes_next(const char *word, size_t len)
{
	const struct hf_option *option;

	if (len < 3 || memcmp(word, "--", 2) != 0)
		return false;
	for (size_t i = 0; (option = hf_options_at(i)) != NULL; i++)
		if (option->argument &&
		    hf_completion_is_text(word + 2, len - 2, option->name))
			return true;
	return false;
}

void hf_completion_add_words(const char *arguments, struct hf_buffer *out)
{
	bool is_value = false;
	const size_t start = out->len;
	const char *at = arguments + strspn(arguments, SEPARATORS);

	while (*at != '\0') {
		const size_t len = strcspn(at, SEPARATORS);

		if (!is_value)
			add_kind(at, len, start, out);
		is_value = takes_next(at, len);
		at += len;
		at += strspn(at, SEPARATORS);
	}
}

/* What stands behind an option. */
void hf_completion_add_values(const struct hf_option *option,
			      struct hf_buffer *out)
{
	const char *const *words = hf_options_words(option);

	for (; words && *words != NULL; words++)
		hf_buffer_printf(out, " %s", *words);
	if (!hf_options_words(option))
		hf_completion_add_words(option->argument, out);
}

/* -- the tables
 * ---------------------------------------------------------------- */

bool hf_completion_belongs(const struct hf_option *option, size_t command)
{
	return (option->commands & (1u << command)) != 0;
}

/* Of one that stands in the table twice, with and without a value. */
bool hf_completion_is_first(size_t index, unsigned commands)
{
	for (size_t i = 0; i < index; i++)
		if ((hf_options_at(i)->commands & commands) &&
		    strcmp(hf_options_at(i)->name,
			   hf_options_at(index)->name) == 0)
			return false;
	return true;
}

bool hf_completion_has_second(size_t index, size_t command)
{
	const struct hf_option *option;

	for (size_t i = index + 1; (option = hf_options_at(i)) != NULL; i++)
		if (hf_completion_belongs(option, command) &&
		    strcmp(option->name, hf_options_at(index)->name) == 0)
			return true;
	return false;
}

/* Every character of set with a backslash in front; a quote as zsh and bash
 * want it, or fish. */
void hf_completion_add_escaped(const char *text, const char *set,
			       const char *quote, struct hf_buffer *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'') {
			hf_buffer_add_text(out, quote);
			continue;
		}
		if (strchr(set, *text))
			hf_buffer_add_text(out, "\\");
		hf_buffer_add(out, text, 1);
	}
}

void hf_completion_add(enum hf_shell shell, struct hf_buffer *out)
{
	switch (shell) {
	case HF_SHELL_NONE:
		break;
	case HF_SHELL_BASH:
		hf_completion_add_bash(out);
		break;
	case HF_SHELL_ZSH:
		hf_completion_add_zsh(out);
		break;
	case HF_SHELL_FISH:
		hf_completion_add_fish(out);
		break;
	}
}
