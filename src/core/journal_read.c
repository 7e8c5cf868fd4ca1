/* SPDX-License-Identifier: MIT */
/*
 * Read journals: what a session did, which are open, and close a dead one.
 */
#include "core/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/journal_text.h"
#include "core/sealed.h"

#define SUM_PREFIX ",\"sum\":\""
/* ,"sum":"HEX"} */
#define SUM_LEN	   (sizeof(SUM_PREFIX) - 1 + HF_HASH_TEXT - 1 + 2)
#define KEPT_MAX   ((size_t)10 * 1000 * 1000)
#define ARGV_MAX   ((size_t)1 << 20)

/* -- lines ---------------------------------------------------------------- */

/* Does the line end with the sum of what stands before it? */
static bool has_right_sum(const char *line, size_t len)
{
	char expected[SUM_LEN + 1];
	char digits[HF_HASH_TEXT];
	struct hf_hash sum;

	if (len < SUM_LEN)
		return false;
	sum = hf_hash_of(line, len - SUM_LEN);
	(void)snprintf(expected, sizeof(expected), "%s%s\"}", SUM_PREFIX,
		       hf_hash_format(&sum, digits));
	return memcmp(line + len - SUM_LEN, expected, SUM_LEN) == 0;
}

size_t hf_journal_good_len(const char *data, size_t len)
{
	struct hf_lines lines = {.next = data, .end = data + len};
	size_t good = 0;
	const char *line;
	size_t line_len;

	while (hf_lines_next(&lines, &line, &line_len)) {
		/* Without its newline a line was not written to its end. */
		if (line + line_len < lines.end &&
		    has_right_sum(line, line_len))
			good = (size_t)(lines.next - data);
	}
	return good;
}

/* -- records -------------------------------------------------------------- */

/* What is gathered while the lines are read. */
struct reader {
	struct hf_session_record *session;
	struct hf_buffer violations;
	size_t kept_capacity;
	bool has_open;
};

static bool decode_time(const hf_json_value *object, const char *key,
			int64_t *ret_time_ns)
{
	const char *const text = hf_json_string(hf_json_get(object, key));

	return text && hf_time_decode(text, ret_time_ns) == 0;
}

/* A text member that is to free(); "" when it is not there. */
static char *copy_text(const hf_json_value *object, const char *key)
{
	const char *const text = hf_json_string(hf_json_get(object, key));

	return strdup(text ? text : "");
}

static int decode_argv(const hf_json_value *array,
		       struct hf_session_record *session, struct hf_error *err)
{
	const hf_json_value *item;
	size_t count = 0;

	for (item = hf_json_first(array); item; item = hf_json_next(item))
		count++;
	if (!hf_json_is_array(array) || count > ARGV_MAX)
		return hf_fail(err, HF_ERR_CORRUPT, "its command is wrong");
	session->argv = calloc(count + 1, sizeof(*session->argv));
	if (!session->argv)
		return hf_fail_memory(err);
	count = 0;
	for (item = hf_json_first(array); item; item = hf_json_next(item)) {
		const char *const word = hf_json_string(item);

		session->argv[count] = strdup(word ? word : "");
		if (!session->argv[count++])
			return hf_fail_memory(err);
	}
	return 0;
}

static int decode_open(struct reader *reader, const hf_json_value *record,
		       struct hf_error *err)
{
	struct hf_session_record *const session = reader->session;
	const char *const boot = hf_json_string(hf_json_get(record, "boot"));
	const char *const start =
		hf_json_string(hf_json_get(record, "pid_start"));
	uint64_t version;

	if (reader->has_open ||
	    !hf_json_number(hf_json_get(record, "version"), &version))
		return hf_fail(err, HF_ERR_CORRUPT,
			       "its first record is wrong");
	reader->has_open = true;
	if (version != HF_JOURNAL_VERSION)
		return hf_fail(err, HF_ERR_UNSUPPORTED,
			       "the journal has version %" PRIu64
			       ", known is %d",
			       version, HF_JOURNAL_VERSION);
	if (!boot || strlen(boot) >= sizeof(session->boot_id) || !start ||
	    hf_parse_u64(start, strlen(start), 10, &session->pid_start) < 0 ||
	    !hf_json_number(hf_json_get(record, "pid"), &session->pid) ||
	    !decode_time(record, "time", &session->begun_ns) ||
	    !decode_time(record, "boot_time", &session->begun_boot_ns))
		return hf_fail(err, HF_ERR_CORRUPT,
			       "its first record is wrong");
	memcpy(session->boot_id, boot, strlen(boot) + 1);
	session->kind = copy_text(record, "kind");
	session->snapshot = copy_text(record, "snapshot");
	if (!session->kind || !session->snapshot)
		return hf_fail_memory(err);
	return decode_argv(hf_json_get(record, "command"), session, err);
}

/* One of the two entries of a "kept" record, into the session's memory. */
static int decode_entry(const hf_json_value *object,
			struct hf_session_record *session,
			struct hf_entry **ret_entry, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_entry *entry;
	int rc;

	rc = hf_entry_decode(object, &tree, err);
	if (rc < 0)
		return rc;
	entry = hf_arena_alloc(&session->arena, sizeof(*entry));
	if (!entry)
		return hf_fail_memory(err);
	*entry = tree.entries[0];
	hf_arena_adopt(&session->arena, &tree.arena);
	*ret_entry = entry;
	return 0;
}

/* What was kept was not replaced after all: the newest record of it is void. */
static void take_back(struct hf_session_record *session, const char *path)
{
	for (size_t i = session->kept_count; i > 0; i--) {
		struct hf_kept_record *const kept = &session->kept[i - 1];

		if (strcmp(kept->replaced->path, path) != 0)
			continue;
		session->kept_count--;
		memmove(kept, kept + 1,
			(session->kept_count - (i - 1)) * sizeof(*kept));
		return;
	}
}

static int decode_kept(struct reader *reader, const hf_json_value *record,
		       struct hf_error *err)
{
	struct hf_session_record *const session = reader->session;
	struct hf_kept_record kept = {.replaced = NULL};
	int rc;

	rc = hf_text_decode(hf_json_get(record, "kept"),
			    hf_json_get(record, "kept_bytes"), &session->arena,
			    &kept.kept_path);
	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	if (rc < 0)
		return hf_fail(err, HF_ERR_CORRUPT, "a kept path is wrong");
	rc = decode_entry(hf_json_get(record, "replaced"), session,
			  &kept.replaced, err);
	if (rc < 0)
		return rc;
	rc = decode_entry(hf_json_get(record, "put"), session, &kept.put, err);
	if (rc < 0)
		return rc;

	if (kept.replaced->stat.kind == HF_KIND_ABSENT &&
	    kept.put->stat.kind == HF_KIND_ABSENT) {
		take_back(session, kept.replaced->path);
		return 0;
	}
	if (session->kept_count >= KEPT_MAX)
		return hf_fail(err, HF_ERR_CORRUPT, "it has too many records");
	if (session->kept_count == reader->kept_capacity) {
		const size_t wanted = 2 * reader->kept_capacity + 16;
		struct hf_kept_record *const items =
			realloc(session->kept, wanted * sizeof(*items));

		if (!items)
			return hf_fail_memory(err);
		session->kept = items;
		reader->kept_capacity = wanted;
	}
	session->kept[session->kept_count++] = kept;
	return 0;
}

/* It is kept as it is; the first one tells how old the session was by then. */
static int decode_accepted(struct reader *reader, const hf_json_value *record,
			   struct hf_error *err)
{
	struct hf_session_record *const session = reader->session;
	struct hf_entry **items;
	int64_t alive_ns;
	int rc;

	if (!decode_time(record, "alive", &alive_ns) ||
	    session->accepted_count >= KEPT_MAX)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "what was accepted is wrong");
	items = realloc(session->accepted, (session->accepted_count + 1) *
						   sizeof(struct hf_entry *));
	if (!items)
		return hf_fail_memory(err);
	session->accepted = items;
	rc = decode_entry(hf_json_get(record, "entry"), session,
			  &items[session->accepted_count], err);
	if (rc < 0)
		return rc;
	if (session->accepted_count++ == 0)
		session->alive_ns = alive_ns;
	return 0;
}

static int decode_end(struct reader *reader, const hf_json_value *record,
		      struct hf_error *err)
{
	struct hf_session_record *const session = reader->session;
	const char *const outcome =
		hf_json_string(hf_json_get(record, "outcome"));
	uint64_t violations;
	uint64_t status;

	session->has_ended = false;
	for (unsigned i = HF_OUTCOME_CLEAN; i <= HF_OUTCOME_DONE; i++) {
		const enum hf_outcome known = (enum hf_outcome)i;

		if (outcome && strcmp(outcome, hf_outcome_name(known)) == 0) {
			session->outcome = known;
			session->has_ended = true;
		}
	}
	if (!session->has_ended ||
	    !hf_json_number(hf_json_get(record, "status"), &status) ||
	    status > INT32_MAX ||
	    !hf_json_number(hf_json_get(record, "violations"), &violations) ||
	    !decode_time(record, "time", &session->ended_ns))
		return hf_fail(err, HF_ERR_CORRUPT, "its last record is wrong");
	session->status = (int)status;
	/* A session that was settled later has two ends. */
	session->violations += violations;
	return 0;
}

/* A violation is passed on as it was given: without our two members. */
static void take_violation(struct reader *reader, const char *line, size_t len)
{
	static const char prefix[] = "{\"record\":\"violation\",";
	const size_t prefix_len = sizeof(prefix) - 1;

	if (len < prefix_len + SUM_LEN || memcmp(line, prefix, prefix_len) != 0)
		return;
	hf_buffer_add(&reader->violations, "{", 1);
	hf_buffer_add(&reader->violations, line + prefix_len,
		      len - prefix_len - SUM_LEN);
	hf_buffer_add(&reader->violations, "}\n", 2);
}

static int decode_line(struct reader *reader, const char *line, size_t len,
		       struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *record;
	const char *kind;
	int rc;

	if (!has_right_sum(line, len))
		return hf_fail(err, HF_ERR_CORRUPT, "a record is damaged");
	rc = hf_json_parse_line(line, len, &json, err);
	if (rc < 0)
		return rc;
	record = hf_json_root(json);
	kind = hf_json_string(hf_json_get(record, "record"));
	if (!kind || (strcmp(kind, "open") == 0) == reader->has_open)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "its records are out of order");
	if (strcmp(kind, "open") == 0)
		return decode_open(reader, record, err);
	if (strcmp(kind, "kept") == 0)
		return decode_kept(reader, record, err);
	if (strcmp(kind, "accepted") == 0)
		return decode_accepted(reader, record, err);
	if (strcmp(kind, "end") == 0)
		return decode_end(reader, record, err);
	/* Kinds that are not known here add to what a session tells. */
	if (strcmp(kind, "violation") == 0)
		take_violation(reader, line, len);
	return 0;
}

static int decode_lines(struct reader *reader, struct hf_lines lines,
			struct hf_error *err)
{
	const char *line;
	size_t len;

	while (hf_lines_next(&lines, &line, &len)) {
		const int rc = decode_line(reader, line, len, err);

		if (rc < 0)
			return rc;
	}
	if (!reader->has_open)
		return hf_fail(err, HF_ERR_CORRUPT, "it has no record");
	return 0;
}

/*
 * Only the last line can be torn: cut short, or full of zeroes after a power
 * cut.  A bad line with a good one behind it is damage.
 */
static size_t readable_len(const char *data, size_t len)
{
	const size_t good = hf_journal_good_len(data, len);
	const char *const newline =
		good < len ? memchr(data + good, '\n', len - good) : NULL;
	const size_t torn_end = newline ? (size_t)(newline - data) + 1 : len;

	return torn_end == len ? good : len;
}

int hf_journal_decode(const char *label, const char *data, size_t len,
		      struct hf_session_record *ret, struct hf_error *err)
{
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	cleanup_buffer struct hf_buffer violations = HF_BUFFER_INIT;
	struct reader reader = {.session = &session};
	const struct hf_lines lines = {
		.next = data,
		.end = data + readable_len(data, len),
	};
	int rc;

	rc = decode_lines(&reader, lines, err);
	violations = reader.violations;
	if (rc == HF_ERR_CORRUPT || rc == HF_ERR_UNSUPPORTED) {
		const struct hf_error cause = *err;

		return hf_fail(err, (enum hf_code)rc, "cannot read '%s': %s",
			       HF_QUOTE(label), cause.text);
	}
	if (rc < 0)
		return rc;
	session.violation_lines = hf_buffer_take(&violations);
	if (!session.violation_lines)
		return hf_fail_memory(err);
	*ret = session;
	session = (struct hf_session_record)HF_SESSION_RECORD_INIT;
	return 0;
}

void hf_session_record_done(struct hf_session_record *record)
{
	for (size_t i = 0; record->argv && record->argv[i]; i++)
		hf_free_pointee(&record->argv[i]);
	hf_free_pointee(&record->argv);
	hf_free_pointee(&record->kind);
	hf_free_pointee(&record->snapshot);
	hf_free_pointee(&record->violation_lines);
	hf_free_pointee(&record->kept);
	record->kept_count = 0;
	hf_free_pointee(&record->accepted);
	record->accepted_count = 0;
	hf_arena_done(&record->arena);
}
