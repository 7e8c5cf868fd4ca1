/* SPDX-License-Identifier: MIT */
/* Find the snapshot that a person means. */
#include "core/moment.h"

#include "base/fail.h"
#include "base/text.h"
#include "core/holdings.h"
#include "core/snapshot.h"
#include "platform/system.h"

struct search {
	const struct hf_store *store;
	const char *typed;
	const char *const *paths; /* NULL: snapshots count themselves */
	struct hf_moment moment;
	struct hf_names names;
	struct hf_buffer *notes;
};

static void search_done(struct search *search)
{
	hf_names_done(&search->names);
}

static int fail_steps(const struct search *search, size_t count,
		      struct hf_error *err)
{
	const bool has_paths = search->paths != NULL;

	(void)hf_fail(err, HF_ERR_USAGE,
		      "there is no '%s'%s%s%s: %zu %s recorded",
		      HF_QUOTE(search->typed), has_paths ? " of '" : "",
		      has_paths ? HF_QUOTE(search->paths[0]) : "",
		      has_paths ? "'" : "", count,
		      has_paths	   ? count == 1 ? "content is" : "contents are"
		      : count == 1 ? "snapshot is"
				   : "snapshots are");
	return hf_fail_hint(err, "'holdfast log' lists the snapshots");
}

static int fail_time(const struct search *search, struct hf_error *err)
{
	const bool has_paths = search->paths != NULL;

	(void)hf_fail(err, HF_ERR_USAGE,
		      "there is no snapshot%s%s%s from '%s' or before",
		      has_paths ? " with a content of '" : "",
		      has_paths ? HF_QUOTE(search->paths[0]) : "",
		      has_paths ? "'" : "", HF_QUOTE(search->typed));
	return hf_fail_hint(err, "'holdfast log' lists the snapshots");
}

/* -- snapshots ------------------------------------------------------------- */

static int find_step(const struct search *search, struct hf_name *ret_name,
		     struct hf_error *err)
{
	const size_t count = search->names.count;

	if (search->moment.steps >= count)
		return fail_steps(search, count, err);
	*ret_name = search->names.items[count - 1 - search->moment.steps];
	return 0;
}

static int find_time(const struct search *search, struct hf_name *ret_name,
		     struct hf_error *err)
{
	for (size_t i = search->names.count; i > 0; i--) {
		const struct hf_name *const name = &search->names.items[i - 1];

		if (hf_name_time_ns(name) > search->moment.time_ns)
			continue;
		*ret_name = *name;
		return 0;
	}
	return fail_time(search, err);
}

/* -- contents -------------------------------------------------------------- */

/* The newest one is where counting begins, whatever it holds. */
static int find_content_step(const struct search *search,
			     struct hf_holdings *holdings,
			     struct hf_name *ret_name, struct hf_error *err)
{
	const struct hf_name *const newest =
		&search->names.items[search->names.count - 1];
	struct hf_holding holding;
	uint64_t passed = 0;
	int rc;

	while ((rc = hf_holdings_next(holdings, &holding, err)) > 0) {
		passed += holding.is_new && hf_name_number(&holding.snapshot) !=
						    hf_name_number(newest);
		if (passed == search->moment.steps) {
			*ret_name = holding.snapshot;
			return 0;
		}
	}
	return rc < 0 ? rc : fail_steps(search, holdings->seen_count, err);
}

static int find_content(const struct search *search, struct hf_name *ret_name,
			struct hf_error *err)
{
	cleanup_holdings struct hf_holdings holdings = HF_HOLDINGS_INIT;
	struct hf_holding holding;
	int rc;

	holdings.notes = search->notes;
	if (search->moment.kind == HF_MOMENT_TIME)
		holdings.until_ns = search->moment.time_ns;
	rc = hf_holdings_begin(&holdings, search->store, search->paths, err);
	if (rc < 0)
		return rc;
	if (search->moment.kind == HF_MOMENT_STEPS)
		return find_content_step(search, &holdings, ret_name, err);
	while ((rc = hf_holdings_next(&holdings, &holding, err)) > 0) {
		if (holding.has_content) {
			*ret_name = holding.snapshot;
			return 0;
		}
	}
	return rc < 0 ? rc : fail_time(search, err);
}

/* -- all of it ------------------------------------------------------------- */

static int find(struct search *search, struct hf_name *ret_name,
		struct hf_error *err)
{
	const bool is_newest = search->moment.kind == HF_MOMENT_STEPS &&
			       search->moment.steps == 0;
	struct hf_name newest;
	int rc;

	/* Counting begins at the newest: is that there? */
	rc = hf_snapshot_find_newest(search->store, &newest, err);
	if (rc == 0)
		rc = hf_store_list(search->store, HF_STORE_SNAPSHOTS, "",
				   &search->names, err);
	if (rc < 0)
		return rc;
	if (search->names.count == 0)
		return fail_steps(search, 0, err);
	if (search->paths && !is_newest)
		return find_content(search, ret_name, err);
	return search->moment.kind == HF_MOMENT_TIME
		       ? find_time(search, ret_name, err)
		       : find_step(search, ret_name, err);
}

int hf_moment_find(const struct hf_store *store, const char *typed,
		   const char *const *paths, struct hf_buffer *notes,
		   struct hf_name *ret_name, struct hf_error *err)
{
	CLEANUP(search_done)
	struct search search = {
		.store = store,
		.typed = typed,
		.paths = paths && paths[0] ? paths : NULL,
		.names = HF_NAMES_INIT,
		.notes = notes,
	};
	int rc;

	if (!typed)
		return hf_snapshot_find_newest(store, ret_name, err);
	rc = hf_moment_parse(typed, hf_system_time_ns(), &search.moment, err);
	if (rc < 0)
		return rc;
	if (search.moment.kind == HF_MOMENT_NAME)
		return hf_store_resolve(store, HF_STORE_SNAPSHOTS, typed,
					ret_name, err);
	return find(&search, ret_name, err);
}
