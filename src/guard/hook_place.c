/* SPDX-License-Identifier: MIT */
/* Find the place of hooks, and tell which are ours. */
#include "guard/hook_place.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/git.h"
#include "core/replace.h"
#include "core/sealed.h"
#include "platform/file.h"

#define KNOWN_NAME "holdfast-hooks"
#define KNOWN_MAX  ((size_t)256 << 10)
#define HUSKY	   "/.husky/_"
/* The user's own configuration of this repository alone. */
#define LOCAL	   "local\t"
#define WORKTREE   "worktree\t"

static const char *const state_names[HF_HOOK_STATES] = {
	[HF_HOOK_ABSENT] = "absent",	 [HF_HOOK_FIRES] = "fires",
	[HF_HOOK_BYPASSED] = "bypassed", [HF_HOOK_DISABLED] = "disabled",
	[HF_HOOK_REPLACED] = "replaced",
};

const char *hf_hook_state_name(enum hf_hook_state state)
{
	return state_names[state];
}

void hf_hook_place_done(struct hf_hook_place *place)
{
	hf_buffer_done(&place->known);
	hf_free_pointee(&place->directory);
	hf_free_pointee(&place->common);
}

/* -- finding ------------------------------------------------------------------
 */

static char *absolute(const char *directory, const char *path)
{
	if (hf_path_is_absolute(path))
		return strdup(path);
	return strcmp(path, ".") == 0 ? strdup(directory)
				      : hf_path_join(directory, path);
}

/* The next line of an answer, its newline cut off; NULL at the end. */
static char *next_line(char **at)
{
	char *const line = *at;
	size_t len;

	if (!line || *line == '\0')
		return NULL;
	len = strcspn(line, "\n");
	*at += len + (line[len] == '\n');
	line[len] = '\0';
	return line;
}

static int parse(const char *directory, struct hf_buffer *answer,
		 struct hf_hook_place *place, struct hf_error *err)
{
	char *at = answer->data;
	const char *const is_bare = next_line(&at);
	const char *const common = next_line(&at);
	const char *const hooks = next_line(&at);
	size_t len;

	if (!hooks || next_line(&at))
		return hf_fail(err, HF_ERR_UNSUPPORTED,
			       "cannot use what git says of '%s'",
			       HF_QUOTE(directory));
	place->is_bare = strcmp(is_bare, "true") == 0;
	place->common = absolute(directory, common);
	place->directory = absolute(directory, hooks);
	if (!place->common || !place->directory)
		return hf_fail_memory(err);
	len = strlen(place->directory);
	while (len > 1 && place->directory[len - 1] == '/')
		place->directory[--len] = '\0';
	place->is_husky =
		len > strlen(HUSKY) &&
		strcmp(place->directory + len - strlen(HUSKY), HUSKY) == 0;
	/* Its own files are written anew; those above them are the project's.
	 */
	if (place->is_husky)
		place->directory[len - 2] = '\0';
	return 0;
}

/* An old git that does not know --show-scope says nothing. */
static int look_at_path(const struct hf_git *git, struct hf_hook_place *place,
			struct hf_error *err)
{
	static const char *const words[] = {"config", "--show-scope", "--get",
					    "core.hooksPath", NULL};
	cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;
	const int rc =
		hf_git_ask(git, words, NULL, HF_GIT_ANSWER_MAX, &answer, err);

	if (rc < 0)
		return rc;
	place->has_path = rc == 0 && answer.len > 0;
	place->is_shared =
		place->has_path &&
		strncmp(answer.data, LOCAL, strlen(LOCAL)) != 0 &&
		strncmp(answer.data, WORKTREE, strlen(WORKTREE)) != 0;
	return 0;
}

static int read_known(struct hf_hook_place *place, struct hf_error *err)
{
	cleanup_fd int common_fd = hf_file_open_directory(place->common);
	cleanup_fd int fd = -1;
	int rc;

	if (common_fd < 0)
		return hf_fail_system(err, common_fd, "cannot open '%s'",
				      HF_QUOTE(place->common));
	fd = hf_file_open_read_at(common_fd, KNOWN_NAME);
	if (fd == -ENOENT)
		return 0;
	rc = fd < 0 ? fd : hf_file_read_all(fd, KNOWN_MAX, &place->known);
	if (rc == 0 && memchr(place->known.data ? place->known.data : "", '\0',
			      place->known.len))
		rc = -EINVAL;
	return rc < 0 ? hf_fail_system(err, rc, "cannot read '%s/%s'",
				       HF_QUOTE(place->common), KNOWN_NAME)
		      : 0;
}

int hf_hook_place_find(const char *directory, struct hf_hook_place *ret_place,
		       struct hf_error *err)
{
	static const char *const words[] = {"rev-parse",
					    "--is-bare-repository",
					    "--git-common-dir",
					    "--git-path",
					    "hooks",
					    NULL};
	cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;
	const struct hf_git git = {.directory = directory};
	int rc;

	rc = hf_git_ask(&git, words, NULL, HF_GIT_ANSWER_MAX, &answer, err);
	if (rc > 0)
		return hf_fail(err, HF_ERR_NOTHING,
			       "cannot find a git repository in '%s'",
			       HF_QUOTE(directory));
	if (rc == 0)
		rc = parse(directory, &answer, ret_place, err);
	if (rc == 0)
		rc = look_at_path(&git, ret_place, err);
	return rc < 0 ? rc : read_known(ret_place, err);
}

/* -- what is remembered
 * -------------------------------------------------------- */

/* "NAME\tDIRECTORY" of the hook: where its directory begins; NULL. */
static const char *find_known(enum hf_hook hook, const char *line, size_t len)
{
	const char *const name = hf_hook_name(hook);
	const size_t name_len = strlen(name);

	return len > name_len + 1 && strncmp(line, name, name_len) == 0 &&
			       line[name_len] == '\t' &&
			       line[name_len + 1] == '/'
		       ? line + name_len + 1
		       : NULL;
}

/* Is it remembered, and where else than where git looks is it ours? */
static bool is_known(const struct hf_hook_place *place, enum hf_hook hook,
		     char **ret_elsewhere)
{
	struct hf_lines lines = hf_lines_of(place->known.data);
	bool is_found = false;
	const char *line;
	size_t len;

	while (hf_lines_next(&lines, &line, &len)) {
		const char *const at = find_known(hook, line, len);
		cleanup_free char *directory =
			at ? strndup(at, len - (size_t)(at - line)) : NULL;

		if (!directory)
			continue;
		is_found = true;
		if (ret_elsewhere && !*ret_elsewhere &&
		    strcmp(directory, place->directory) != 0 &&
		    hf_hook_file_at(directory, hook, "") == HF_HOOK_FILE_OURS)
			*ret_elsewhere = take_ptr(&directory);
	}
	return is_found;
}

char *hf_hook_elsewhere(const struct hf_hook_place *place, enum hf_hook hook)
{
	char *elsewhere = NULL;

	(void)is_known(place, hook, &elsewhere);
	return elsewhere;
}

enum hf_hook_state hf_hook_state(const struct hf_hook_place *place,
				 enum hf_hook hook)
{
	cleanup_free char *elsewhere = NULL;
	const enum hf_hook_file file =
		hf_hook_file_at(place->directory, hook, "");
	bool was_known;

	if (file == HF_HOOK_FILE_OURS || file == HF_HOOK_FILE_EDITED ||
	    file == HF_HOOK_FILE_CALLS)
		return place->is_husky || hf_hook_file_is_executable(
						  place->directory, hook)
			       ? HF_HOOK_FIRES
			       : HF_HOOK_DISABLED;
	/* pre-commit has put it there and calls it. */
	if (file == HF_HOOK_FILE_FOREIGN &&
	    hf_hook_file_at(place->directory, hook, HF_HOOK_LEGACY) ==
		    HF_HOOK_FILE_OURS)
		return HF_HOOK_FIRES;
	was_known = is_known(place, hook, &elsewhere);
	if (elsewhere)
		return HF_HOOK_BYPASSED;
	return was_known ? HF_HOOK_REPLACED : HF_HOOK_ABSENT;
}

/* Without the line of that hook in that directory. */
static void forget(const struct hf_hook_place *place, enum hf_hook hook,
		   struct hf_buffer *out)
{
	struct hf_lines lines = hf_lines_of(place->known.data);
	const char *line;
	size_t len;

	while (hf_lines_next(&lines, &line, &len)) {
		const char *const at = find_known(hook, line, len);

		if (at &&
		    len - (size_t)(at - line) == strlen(place->directory) &&
		    memcmp(at, place->directory, strlen(place->directory)) == 0)
			continue;
		hf_buffer_add(out, line, len);
		hf_buffer_add_text(out, "\n");
	}
}

static void note(struct hf_hook_place *place, enum hf_hook hook, bool is_there)
{
	struct hf_buffer out = HF_BUFFER_INIT;

	forget(place, hook, &out);
	/* One that has such a name is not remembered. */
	if (is_there && !strpbrk(place->directory, "\t\n"))
		hf_buffer_printf(&out, "%s\t%s\n", hf_hook_name(hook),
				 place->directory);
	hf_buffer_done(&place->known);
	place->known = out;
}

int hf_hook_place_remember(const struct hf_hook_place *place,
			   struct hf_error *err)
{
	cleanup_fd int fd = hf_file_open_directory(place->common);
	int rc;

	rc = hf_buffer_check(&place->known, err);
	if (rc < 0)
		return rc;
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open '%s'",
				      HF_QUOTE(place->common));
	if (place->known.len == 0) {
		rc = hf_file_unlink_at(fd, KNOWN_NAME);
		return rc < 0 && rc != -ENOENT
			       ? hf_fail_system(
					 err, rc, "cannot remove '%s/%s'",
					 HF_QUOTE(place->common), KNOWN_NAME)
			       : 0;
	}
	return hf_replace_write(fd, KNOWN_NAME, 0600, place->known.data,
				place->known.len, err);
}

/* -- coming and going
 * ----------------------------------------------------------- */

int hf_hook_install(struct hf_hook_place *place, enum hf_hook hook,
		    const char *program, enum hf_hook_result *ret_result,
		    struct hf_error *err)
{
	cleanup_buffer struct hf_buffer script = HF_BUFFER_INIT;
	int rc;

	rc = hf_hook_script_make(hook, program, &script, err);
	if (rc < 0)
		return rc;
	rc = hf_hook_file_put(place->directory, hook, &script, !place->is_husky,
			      ret_result, err);
	if (rc == 0)
		note(place, hook, true);
	return rc;
}

int hf_hook_uninstall(struct hf_hook_place *place, enum hf_hook hook,
		      enum hf_hook_result *ret_result, struct hf_error *err)
{
	cleanup_free char *elsewhere = NULL;
	enum hf_hook_result result = HF_HOOK_NONE;
	int rc;

	rc = hf_hook_file_take(place->directory, hook, &result, err);
	if (rc < 0)
		return rc;
	note(place, hook, false);
	/* Where it was before git was told to look elsewhere. */
	elsewhere = hf_hook_elsewhere(place, hook);
	if (elsewhere) {
		char *const here = place->directory;

		rc = hf_hook_file_take(elsewhere, hook, &result, err);
		place->directory = elsewhere;
		if (rc == 0)
			note(place, hook, false);
		place->directory = here;
	}
	if (rc == 0)
		*ret_result = result;
	return rc;
}
