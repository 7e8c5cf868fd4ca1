/* SPDX-License-Identifier: MIT */
/* The names in a store: counted up, listed, and found from what was typed. */
#include "core/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/calendar.h"
#include "base/fail.h"
#include "base/text.h"
#include "platform/system.h"

#define NUMBER_DIGITS 6 /* at least */
#define NUMBER_MAX    UINT64_C(999999999)
#define TIME_FORM     "00000000T000000Z"
#define CANDIDATES    8 /* named when several are meant */

void hf_names_done(struct hf_names *names)
{
	hf_free_pointee(&names->items);
	names->count = 0;
}

/* Length of the name that text begins with; 0 when it does not. */
static size_t name_len(const char *text)
{
	const size_t digits = strspn(text, "0123456789");
	uint64_t number;

	if (digits < NUMBER_DIGITS || text[digits] != '-' ||
	    hf_parse_u64(text, digits, 10, &number) < 0 || number > NUMBER_MAX)
		return 0;
	text += digits + 1;
	for (size_t i = 0; i < strlen(TIME_FORM); i++) {
		const bool is_digit = text[i] >= '0' && text[i] <= '9';

		if (TIME_FORM[i] == '0' ? !is_digit : text[i] != TIME_FORM[i])
			return 0;
	}
	return digits + 1 + strlen(TIME_FORM);
}

/* text is a name and suffix behind it. */
static bool parse(const char *text, const char *suffix,
		  struct hf_name *ret_name)
{
	const size_t len = name_len(text);

	if (len == 0 || len >= sizeof(ret_name->text) ||
	    strcmp(text + len, suffix) != 0)
		return false;
	memcpy(ret_name->text, text, len);
	ret_name->text[len] = '\0';
	return true;
}

bool hf_name_parse(const char *text, struct hf_name *ret_name)
{
	return parse(text, "", ret_name);
}

/* Of a text that begins with a name. */
static uint64_t number_of(const char *text)
{
	uint64_t number = 0;

	(void)!hf_parse_u64(text, strspn(text, "0123456789"), 10, &number);
	return number;
}

uint64_t hf_name_number(const struct hf_name *name)
{
	return number_of(name->text);
}

int64_t hf_name_time_ns(const struct hf_name *name)
{
	const char *const t = strchr(name->text, '-') + 1;
	char text[sizeof(name->text)];
	int64_t time_ns;

	(void)snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s.0Z",
		       t, t + 4, t + 6, t + 9, t + 11, t + 13);
	/* One that is none, like the 99th of a month, is beyond all others. */
	return hf_calendar_scan(text, &time_ns) > sizeof("2026-11-30")
		       ? time_ns
		       : INT64_MAX;
}

/* By number, which has no zeros in front beyond a fixed length. */
static int compare_names(const void *a, const void *b)
{
	const char *const left = ((const struct hf_name *)a)->text;
	const char *const right = ((const struct hf_name *)b)->text;
	const size_t left_len = strcspn(left, "-");
	const size_t right_len = strcspn(right, "-");

	if (left_len != right_len)
		return left_len < right_len ? -1 : 1;
	return strcmp(left, right);
}

static int add_name(struct hf_names *names, size_t *capacity,
		    const struct hf_name *name)
{
	if (names->count == *capacity) {
		const size_t wanted = *capacity > 0 ? 2 * *capacity : 64;
		struct hf_name *items;
		size_t size;

		if (__builtin_mul_overflow(wanted, sizeof(*items), &size))
			return -ENOMEM;
		items = realloc(names->items, size);
		if (!items)
			return -ENOMEM;
		names->items = items;
		*capacity = wanted;
	}
	names->items[names->count++] = *name;
	return 0;
}

/* The names with each of the suffixes; suffixes[1] may be NULL. */
static int read_names(int folder_fd, const char *const suffixes[2],
		      struct hf_names lists[2])
{
	cleanup_directory struct hf_directory *directory = NULL;
	size_t capacities[2] = {0, 0};
	const char *text;
	enum hf_kind kind;
	int rc;

	rc = hf_directory_open(folder_fd, &directory);
	while (rc >= 0) {
		struct hf_name name;
		size_t i = 0;

		rc = hf_directory_next(directory, &text, &kind);
		if (rc <= 0)
			break;
		if (!parse(text, suffixes[0], &name)) {
			if (!suffixes[1] || !parse(text, suffixes[1], &name))
				continue;
			i = 1;
		}
		rc = add_name(&lists[i], &capacities[i], &name);
	}
	return rc;
}

int hf_store_list_both(const struct hf_store *store,
		       enum hf_store_folder folder,
		       const char *const suffixes[2],
		       struct hf_names ret_lists[2], struct hf_error *err)
{
	struct hf_names lists[2] = {HF_NAMES_INIT, HF_NAMES_INIT};
	const int rc = read_names(store->folder_fd[folder], suffixes, lists);

	for (size_t i = 0; i < 2; i++) {
		if (lists[i].count > 1)
			qsort(lists[i].items, lists[i].count,
			      sizeof(*lists[i].items), compare_names);
		ret_lists[i] = lists[i];
	}
	return rc < 0 ? hf_fail_system(err, rc, "cannot list the store '%s'",
				       HF_QUOTE(store->path))
		      : 0;
}

int hf_store_list(const struct hf_store *store, enum hf_store_folder folder,
		  const char *suffix, struct hf_names *ret_names,
		  struct hf_error *err)
{
	const char *const suffixes[2] = {suffix, NULL};
	struct hf_names lists[2];
	const int rc = hf_store_list_both(store, folder, suffixes, lists, err);

	if (rc < 0)
		hf_names_done(&lists[0]);
	else
		*ret_names = lists[0];
	return rc;
}

/* Names of a folder with whatever suffix it uses: one list after the other. */
static int list_all(const struct hf_store *store, enum hf_store_folder folder,
		    struct hf_names lists[2], struct hf_error *err)
{
	static const char *const plain[2] = {"", NULL};
	static const char *const sessions[2] = {".open", ".done"};

	return hf_store_list_both(
		store, folder, folder == HF_STORE_SESSIONS ? sessions : plain,
		lists, err);
}

/* The largest number of a folder, whatever stands behind the names. */
static int find_last(int folder_fd, uint64_t *ret_number)
{
	cleanup_directory struct hf_directory *directory = NULL;
	uint64_t last = 0;
	const char *text;
	enum hf_kind kind;
	int rc;

	rc = hf_directory_open(folder_fd, &directory);
	while (rc >= 0) {
		rc = hf_directory_next(directory, &text, &kind);
		if (rc <= 0)
			break;
		if (name_len(text) > 0 && number_of(text) > last)
			last = number_of(text);
	}
	if (rc == 0)
		*ret_number = last;
	return rc;
}

int hf_store_next_name(const struct hf_store *store,
		       enum hf_store_folder folder, struct hf_name *ret_name,
		       struct hf_error *err)
{
	return hf_store_next_name_after(store, folder, 0, ret_name, err);
}

int hf_store_next_name_after(const struct hf_store *store,
			     enum hf_store_folder folder, uint64_t after,
			     struct hf_name *ret_name, struct hf_error *err)
{
	uint64_t number;
	const int rc = find_last(store->folder_fd[folder], &number);

	if (rc < 0)
		return hf_fail_system(err, rc, "cannot list the store '%s'",
				      HF_QUOTE(store->path));
	return hf_store_name_behind(store, number > after ? number : after,
				    ret_name, err);
}

int hf_store_name_behind(const struct hf_store *store, uint64_t number,
			 struct hf_name *ret_name, struct hf_error *err)
{
	struct hf_short_text time;
	const char *t;

	if (number >= NUMBER_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot name anything new in '%s'",
			       HF_QUOTE(store->path));

	/* "2026-11-30T03:00:07..." without its separators. */
	t = hf_format_time(&time, hf_system_time_ns());
	(void)snprintf(ret_name->text, sizeof(ret_name->text),
		       "%06" PRIu64 "-%.4s%.2s%.2sT%.2s%.2s%.2sZ", number + 1,
		       t, t + 5, t + 8, t + 11, t + 14, t + 17);
	return 0;
}

/* Does the name begin with, or have as its number, what was typed? */
static bool is_meant(const struct hf_name *name, const char *typed,
		     bool by_number)
{
	const size_t len = strlen(typed);
	uint64_t number;

	if (!by_number)
		return strncmp(name->text, typed, len) == 0;
	return hf_parse_u64(typed, len, 10, &number) == 0 &&
	       number == hf_name_number(name);
}

/* How many names are meant; the first of them. */
static size_t find_meant(const struct hf_names lists[2], const char *typed,
			 bool by_number,
			 const struct hf_name *found[CANDIDATES])
{
	size_t count = 0;

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < lists[i].count; k++) {
			const struct hf_name *const name = &lists[i].items[k];

			if (!is_meant(name, typed, by_number))
				continue;
			if (count < CANDIDATES)
				found[count] = name;
			count++;
		}
	}
	return count;
}

static int fail_several(const char *typed, const char *noun,
			const struct hf_name *const found[CANDIDATES],
			size_t count, struct hf_error *err)
{
	char names[CANDIDATES * (sizeof(found[0]->text) + 2)] = "";
	size_t len = 0;

	for (size_t i = 0; i < count && i < CANDIDATES; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len,
					"%s%s", i == 0 ? "" : ", ",
					found[i]->text);
	return hf_fail(err, HF_ERR_USAGE, "'%s' means more than one %s: %s%s",
		       HF_QUOTE(typed), noun, names,
		       count > CANDIDATES ? ", ..." : "");
}

int hf_store_resolve(const struct hf_store *store, enum hf_store_folder folder,
		     const char *typed, struct hf_name *ret_name,
		     struct hf_error *err)
{
	cleanup_names struct hf_names first = HF_NAMES_INIT;
	cleanup_names struct hf_names second = HF_NAMES_INIT;
	struct hf_names lists[2] = {HF_NAMES_INIT, HF_NAMES_INIT};
	const char *const noun =
		folder == HF_STORE_SNAPSHOTS ? "snapshot" : "session";
	const struct hf_name *found[CANDIDATES] = {NULL};
	size_t count;
	int rc;

	rc = list_all(store, folder, lists, err);
	first = lists[0];
	second = lists[1];
	if (rc < 0)
		return rc;

	count = find_meant(lists, typed, true, found);
	if (count == 0 && typed[0] != '\0')
		count = find_meant(lists, typed, false, found);
	if (count == 0) {
		(void)hf_fail(err, HF_ERR_USAGE, "there is no %s '%s'", noun,
			      HF_QUOTE(typed));
		return hf_fail_hint(err, "'holdfast log' lists the %ss", noun);
	}
	if (count > 1)
		return fail_several(typed, noun, found, count, err);
	*ret_name = *found[0];
	return 0;
}
