/* SPDX-License-Identifier: MIT */
/* What is dropped and what stays, in words. */
#include "core/retention_store.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "base/text.h"
#include "core/journal_text.h"
#include "core/pack_name.h"

static void add_name(const struct hf_retention_view *view,
		     enum hf_retention_what what, size_t index,
		     struct hf_buffer *out)
{
	char pack[HF_PACK_NAME];

	switch (what) {
	case HF_RETENTION_SNAPSHOT:
		hf_buffer_add_text(out, view->snapshots.items[index].text);
		return;
	case HF_RETENTION_KEPT:
		hf_buffer_add_text(out, view->sessions.items[index].text);
		return;
	case HF_RETENTION_SESSION:
		hf_buffer_add_text(out, view->sessions.items[index].text);
		hf_buffer_add_text(out, HF_JOURNAL_DONE);
		return;
	case HF_RETENTION_PACK:
		hf_pack_name_format(view->packs[index].number, HF_PACK_SUFFIX,
				    pack);
		hf_buffer_add_text(out, pack);
		return;
	case HF_RETENTION_WHATS:
		break;
	}
}

void hf_retention_name(const struct hf_retention_view *view,
		       enum hf_retention_what what, size_t index,
		       struct hf_buffer *out)
{
	static const enum hf_store_folder folders[HF_RETENTION_WHATS] = {
		[HF_RETENTION_SNAPSHOT] = HF_STORE_SNAPSHOTS,
		[HF_RETENTION_KEPT] = HF_STORE_KEPT,
		[HF_RETENTION_SESSION] = HF_STORE_SESSIONS,
		[HF_RETENTION_PACK] = HF_STORE_PACKS,
	};

	hf_buffer_printf(out, "%s/", hf_store_folder_name(folders[what]));
	add_name(view, what, index, out);
}

/* How many of each kind, and how much: before each but the first. */
void hf_retention_describe(const struct hf_retention_plan *plan,
			   const char *separator, struct hf_buffer *out)
{
	size_t counts[HF_RETENTION_WHATS] = {0};
	struct hf_short_text size;

	for (size_t i = 0; i < plan->count; i++)
		counts[plan->drops[i].what]++;
	for (size_t i = 0; i < HF_RETENTION_WHATS; i++)
		if (counts[i] > 0)
			hf_buffer_printf(out, "%zu %s%s", counts[i],
					 hf_retention_what_text(
						 (enum hf_retention_what)i,
						 counts[i] > 1),
					 separator);
	hf_buffer_add_text(
		out,
		hf_format_size(&size, plan->bytes_before - plan->bytes_after));
}

/* -- why it stays ------------------------------------------------------------
 */

/* Of snapshots and packs; %N is the number of contents, %D that of days. */
static const char *stay_text(enum hf_retention_what what,
			     enum hf_retention_stay why)
{
	static const char *const of_snapshots[HF_STAYS] = {
		[HF_STAYS_LAST] = "the newest snapshot",
		[HF_STAYS_IN_USE] = "a session that has not ended uses it",
		[HF_STAYS_PINNED] =
			"there was never more than half of it since",
		[HF_STAYS_NEWEST] = "it has the newest content",
		[HF_STAYS_AMONG] = "it has one of the newest %N contents",
		[HF_STAYS_YOUNG] = "it was so within the last %D days",
		[HF_STAYS_DAMAGE] = "damage of the last %D days",
	};
	static const char *const of_kept[HF_STAYS] = {
		[HF_STAYS_LAST] = "the last that were kept",
		[HF_STAYS_IN_USE] = "the session has not ended",
		[HF_STAYS_AMONG] = "of the newest %N sessions that kept any",
		[HF_STAYS_YOUNG] = "of the last %D days",
	};
	static const char *const of_packs[HF_STAYS] = {
		[HF_STAYS_LAST] = "the newest pack",
		[HF_STAYS_YOUNG] = "nothing refers to it, since less than %D "
				   "days",
		[HF_STAYS_NEEDED] = "a snapshot refers to it",
	};
	static const char *const of_sessions[HF_STAYS] = {
		[HF_STAYS_IN_USE] = "it has not ended, or cannot be read",
		[HF_STAYS_JOURNAL] = "one of the newest journals",
		[HF_STAYS_NEEDED] = "it has undone one that stays",
	};
	static const char *const *const texts[HF_RETENTION_WHATS] = {
		[HF_RETENTION_SNAPSHOT] = of_snapshots,
		[HF_RETENTION_KEPT] = of_kept,
		[HF_RETENTION_SESSION] = of_sessions,
		[HF_RETENTION_PACK] = of_packs,
	};

	return texts[what][why] ? texts[what][why] : "";
}

void hf_retention_add_stay(const struct hf_retention_view *view,
			   const struct hf_retention_staying *staying,
			   struct hf_buffer *out)
{
	const struct hf_retention *const limits = &view->input.limits;
	const char *text = stay_text(staying->what, staying->why);

	for (; *text != '\0'; text++) {
		if (text[0] != '%') {
			hf_buffer_add(out, text, 1);
			continue;
		}
		text++;
		hf_buffer_printf(out, "%" PRIu64,
				 text[0] == 'N' ? limits->contents
						: limits->days);
	}
}

const char *hf_retention_stay_path(const struct hf_retention_view *view,
				   const struct hf_retention_staying *staying)
{
	return staying->path == HF_RETENTION_NO_PATH
		       ? NULL
		       : view->paths[staying->path];
}
