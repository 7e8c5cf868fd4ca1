/* SPDX-License-Identifier: MIT */
/*
 * Bytes as an exported file, and as the members of one: what is refused leaves
 * nothing, what is taken is a whole store.
 *
 * Members are separated by lines "---"; the first line of each is its name with
 * the type of a tar header before it ("0a.toml", "2link"), and the text of a
 * manifest is sealed.
 */
/* The assertions are the test. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/import.h"
#include "core/inspect.h"
#include "core/sealed.h"
#include "support/tmpdir.h"

#define BLOCK 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static size_t count_names(int fd)
{
	struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	size_t count = 0;

	assert(hf_directory_open(fd, &directory) == 0);
	while (hf_directory_next(directory, &name, &kind) == 1)
		count++;
	hf_directory_close(&directory);
	return count;
}

static void begin(void *context)
{
	(void)context;
}

static void damaged(void *context, const struct hf_store_damage *damage)
{
	(void)context;
	(void)fprintf(stderr, "%s: %s\n", damage->file, damage->reason);
	abort();
}

static void incomplete(void *context, const struct hf_incomplete *snapshot)
{
	(void)context;
	(void)snapshot;
	(void)fprintf(stderr, "a snapshot is incomplete\n");
	abort();
}

static void check_result(const struct hf_store *store, int root_fd, int rc,
			 const struct hf_error *err)
{
	static const struct hf_inspect_sink sink = {NULL, begin, damaged,
						    incomplete};
	struct hf_inspect_counts counts;
	struct hf_error found;

	assert(count_names(root_fd) == 0);
	if (rc < 0) {
		assert(rc == err->code && err->text[0] != '\0');
		assert(!strchr(err->text, '\n'));
		assert(count_names(store->folder_fd[HF_STORE_SNAPSHOTS]) == 0);
		assert(count_names(store->folder_fd[HF_STORE_PACKS]) == 0);
		return;
	}
	assert(hf_inspect(store->path, store->root, root_fd, &sink, NULL,
			  &counts, &found) == 0);
	assert(counts.snapshots > 0);
}

static void check_archive(const void *data, size_t len)
{
	char *const dir = hf_tmpdir_make();
	struct hf_store store = HF_STORE_INIT;
	struct hf_import_result result = {.root = NULL};
	struct hf_error err;
	char *const root = hf_path_join(dir, "root");
	char *const path = hf_path_join(dir, "store");
	int dir_fd = hf_file_open_directory(dir);
	int root_fd;
	int fd;
	int rc;

	assert(hf_file_mkdir_at(dir_fd, "root", 0700) == 0);
	root_fd = hf_file_open_directory_at(dir_fd, "root");
	fd = hf_file_create_at(dir_fd, "file", 0600);
	assert(root_fd >= 0 && fd >= 0);
	assert(hf_file_write(fd, data, len) == 0);
	hf_file_close_quietly(&fd);
	fd = hf_file_open_read_at(dir_fd, "file");
	assert(fd >= 0);
	assert(hf_store_open(&store, path, root, root_fd, HF_STORE_MAKE,
			     &err) == 0);
	rc = hf_import(&store, fd, "'file'", &result, &err);
	check_result(&store, root_fd, rc, &err);
	free(result.root);
	hf_file_close_quietly(&fd);
	hf_file_close_quietly(&root_fd);
	hf_file_close_quietly(&dir_fd);
	hf_store_close(&store);
	free(root);
	free(path);
	hf_tmpdir_remove(dir);
}

/* -- members ----------------------------------------------------------------
 */

static void add_member(char type, const char *name, size_t name_len,
		       const char *data, size_t len, struct hf_buffer *out)
{
	char header[BLOCK] = "";
	static const char zeros[BLOCK] = "";
	unsigned sum = 0;

	memcpy(header, name, name_len < 100 ? name_len : 100);
	memcpy(header + 100, "0000600\0000000000\0000000000", 24);
	(void)snprintf(header + 124, 12, "%011zo", len);
	memcpy(header + 136, "00000000000", 12);
	memset(header + 148, ' ', 8);
	header[156] = type;
	memcpy(header + 157, "elsewhere", 9);
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)header[i];
	(void)snprintf(header + 148, 8, "%06o", sum & 0777777u);
	hf_buffer_add(out, header, BLOCK);
	hf_buffer_add(out, data, len);
	hf_buffer_add(out, zeros, (BLOCK - len % BLOCK) % BLOCK);
}

static bool is_manifest(const char *name, size_t len)
{
	static const char suffix[] = ".manifest";
	const size_t suffix_len = sizeof(suffix) - 1;

	return len > suffix_len &&
	       memcmp(name + len - suffix_len, suffix, suffix_len) == 0;
}

/* Text of JSON lines as a manifest: what is counted are lines with a path. */
static void seal(struct hf_buffer *text)
{
	struct hf_lines lines = hf_lines_of(text->data);
	const char *line;
	size_t len;
	size_t count = 0;

	while (hf_lines_next(&lines, &line, &len))
		count += len > 8 && memcmp(line, "{\"path\":", 8) == 0;
	hf_sealed_end(text, "entries", count);
}

static void add_part(const char *part, size_t len, struct hf_buffer *out)
{
	const char *const end = memchr(part, '\n', len);
	const size_t name_len = end ? (size_t)(end - part) : len;
	struct hf_buffer text = HF_BUFFER_INIT;

	if (name_len < 2)
		return;
	if (end)
		hf_buffer_add(&text, end + 1, len - name_len - 1);
	if (is_manifest(part, name_len))
		seal(&text);
	add_member(part[0], part + 1, name_len - 1, text.data, text.len, out);
	hf_buffer_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char mark[] = "---\n";
	static const char zeros[2 * BLOCK] = "";
	struct hf_buffer archive = HF_BUFFER_INIT;
	const char *at = (const char *)data;
	const char *const end = at + len;

	check_archive(data, len);
	while (at < end) {
		const char *const next =
			memmem(at, (size_t)(end - at), mark, 4);
		const char *const stop = next ? next : end;

		add_part(at, (size_t)(stop - at), &archive);
		at = next ? next + 4 : end;
	}
	hf_buffer_add(&archive, zeros, sizeof(zeros));
	assert(!archive.is_failed);
	check_archive(archive.data, archive.len);
	hf_buffer_done(&archive);
	return 0;
}
