/* SPDX-License-Identifier: MIT */
/* Which entries a scan of a real tree finds, and what it says about them. */
#include "core/scan.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "support/check.h"
#include "support/scanned.h"
#include "support/tmpdir.h"

static char *root;
static int root_fd = -1;

static void make_directories(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(mkdirat(root_fd, names[i], 0755), 0, "%s",
			     names[i]);
}

static void make_socket(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s",
		       root, name);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	(void)close(fd);
}

/* Something of everything. */
static void plant(void)
{
	static const char *const directories[] = {
		"a", "a/b", "a/b/c", "data", "data/empty", "data/sub", ".git",
		"node_modules", "node_modules/m", "venv", "venv/in", "cache",
		"store",
	};
	static const char *const files[] = {
		"x.toml", ".hidden.toml", "y.txt", "a/b/c/deep.toml",
		"a/b.toml", "a/b!.toml", "data/1.csv", "data/sub/2.csv",
		".git/config", ".git/git.toml", "node_modules/m/n.toml",
		"venv/pyvenv.cfg", "venv/v.toml", "venv/in/v.toml",
		"cache/CACHEDIR.TAG", "cache/c.toml", "store/s.toml",
		"new\nline.conf", "no\xffutf8.conf",
	};

	root = hf_tmpdir_make();
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_directories(directories, HF_COUNT(directories));
	for (size_t i = 0; i < HF_COUNT(files); i++)
		hf_put_file(root_fd, files[i], files[i]);
	cr_assert_eq(symlinkat("data", root_fd, "link"), 0);
	cr_assert_eq(symlinkat(".", root_fd, "a/loop"), 0);
	cr_assert_eq(symlinkat("y.txt", root_fd, "link.lnk"), 0);
	cr_assert_eq(mkfifoat(root_fd, "pipe.special", 0600), 0);
	make_socket("socket.special");
}

static void cut(void)
{
	(void)close(root_fd);
	hf_tmpdir_remove(root);
}

TestSuite(scan, .init = plant, .fini = cut);

/* Scan with these patterns into tree; notes may be NULL. */
static int scan(const char *protect, const char *allow,
		const struct hf_tree *before, struct hf_tree *tree,
		struct hf_buffer *notes, struct hf_error *err)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	char store[HF_PATH_MAX];
	const struct hf_scan_options options = {
		.policy = &policy,
		.root_fd = root_fd,
		.root = root,
		.store = store,
		.before = before,
	};
	const int descriptors = hf_open_descriptors();
	int rc;

	(void)snprintf(store, sizeof(store), "%s/store", root);
	hf_make_policy(&policy, protect, allow);
	rc = hf_scan(&options, tree, notes, err);
	cr_expect_eq(hf_open_descriptors(), descriptors, "leaked: %s", protect);
	return rc;
}

struct row {
	const char *protect;
	const char *allow;
	const char *entries;
	const char *notes;
};

static void check(const struct row *row)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_error err;
	int rc;

	rc = scan(row->protect, row->allow ? row->allow : "", NULL, &tree,
		  &notes, &err);
	cr_assert_eq(rc, 0, "%s: %s", row->protect, err.text);
	cr_expect_str_eq(hf_tree_text(&tree), row->entries, "%s: %s",
			 row->protect, hf_tree_text(&tree));
	cr_expect_str_eq(notes.data ? notes.data : "",
			 row->notes ? row->notes : "", "%s: %s", row->protect,
			 notes.data);
}

static void check_all(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&rows[i]);
}

Test(scan, wildcards)
{
	static const struct row rows[] = {
		{ .protect = "*.toml",
		  .entries = "Ad .\nPf .hidden.toml\nPf x.toml\n" },
		{ .protect = "**/*.toml",
		  .entries = "Ad .\nPf .hidden.toml\nAd a\nAd a/b\nAd a/b/c\n"
			     "Pf a/b/c/deep.toml\nPf a/b!.toml\nPf a/b.toml\n"
			     "Pf x.toml\n" },
		{ .protect = "*.toml !x.*", .entries = "Ad .\nPf .hidden.toml\n" },
		{ .protect = "a/*/*/*.toml",
		  .entries = "Ad .\nAd a\nAd a/b\nAd a/b/c\n"
			     "Pf a/b/c/deep.toml\n" },
		{ .protect = "*.nothing", .entries = "" },
		{ .protect = "*.conf",
		  .entries = "Ad .\nPf new\nline.conf\nPf no\xffutf8.conf\n" },
	};

	check_all(rows, HF_COUNT(rows));
}

Test(scan, whole_trees)
{
	static const struct row rows[] = {
		{ .protect = "data/",
		  .entries = "Ad .\nPd data\nPf data/1.csv\nPd data/empty\n"
			     "Pd data/sub\nPf data/sub/2.csv\n" },
		{ .protect = "data/ !data/sub/",
		  .entries = "Ad .\nPd data\nPf data/1.csv\nPd data/empty\n" },
		/* Links beneath it are entries and not followed. */
		{ .protect = "a/ !a/b/",
		  .entries = "Ad .\nPd a\nPf a/b!.toml\nPf a/b.toml\n"
			     "Pl a/loop\n" },
	};

	check_all(rows, HF_COUNT(rows));
}

Test(scan, skipped_unless_named)
{
	static const struct row rows[] = {
		{ .protect = ".git/config", .entries = "Ad .\nAd .git\nPf .git/config\n" },
		{ .protect = ".git/*.toml **/x.toml",
		  .entries = "Ad .\nAd .git\nPf .git/git.toml\nPf x.toml\n" },
		/* One that is entered does not open itself to "**". */
		{ .protect = "**/*.toml .git/config !a/** !*.toml",
		  .entries = "Ad .\nAd .git\nPf .git/config\n" },
		{ .protect = "node_modules/**/*.toml",
		  .entries = "Ad .\nAd node_modules\nAd node_modules/m\n"
			     "Pf node_modules/m/n.toml\n" },
		{ .protect = "venv/in/*.toml",
		  .entries = "Ad .\nAd venv\nAd venv/in\nPf venv/in/v.toml\n" },
		{ .protect = "cache/*.toml",
		  .entries = "Ad .\nAd cache\nPf cache/c.toml\n" },
		{ .protect = "store/*.toml",
		  .entries = "Ad .\nAd store\nPf store/s.toml\n" },
	};

	check_all(rows, HF_COUNT(rows));
}

Test(scan, every_kind_without_blocking)
{
	static const struct row rows[] = {
		{ .protect = "*.special *.lnk *.txt",
		  .entries = "Ad .\nPl link.lnk\nPp pipe.special\n"
			     "Ps socket.special\nPf y.txt\n" },
	};

	check_all(rows, HF_COUNT(rows));
}

Test(scan, absent_literals)
{
	static const struct row rows[] = {
		{ .protect = "none.toml", .entries = "Ad .\nP- none.toml\n" },
		{ .protect = "no/such/file", .entries = "Ad .\nP- no/such/file\n" },
		{ .protect = "a/no/file a/no/file",
		  .entries = "Ad .\nAd a\nP- a/no/file\n" },
		{ .protect = "none.toml !none.*", .entries = "" },
		/* Beneath a file nothing can be; it may be a directory soon. */
		{ .protect = "y.txt/in", .entries = "Ad .\nP- y.txt/in\n" },
		/* Named as a directory, but a file: protected as what it is. */
		{ .protect = "y.txt/", .entries = "Ad .\nPf y.txt\n" },
	};

	check_all(rows, HF_COUNT(rows));
}

Test(scan, links_and_what_is_said)
{
	static const struct row rows[] = {
		{ .protect = "link/1.csv",
		  .entries = "",
		  .notes = "'link/1.csv' lies behind the link 'link' and is "
			   "not protected; name its target\n" },
		{ .protect = "link/*.csv",
		  .entries = "",
		  .notes = "'link' is a link: what patterns name behind it is "
			   "not protected; name its target\n" },
		{ .protect = "link",
		  .entries = "Ad .\nPl link\n",
		  .notes = "the link 'link' is protected, its target 'data' is "
			   "not\n" },
		{ .protect = "link data/1.csv",
		  .entries = "Ad .\nAd data\nPf data/1.csv\nPl link\n",
		  .notes = "the link 'link' is protected, its target 'data' is "
			   "not\n" },
		{ .protect = "link.lnk",
		  .entries = "Ad .\nPl link.lnk\n",
		  .notes = "the link 'link.lnk' is protected, its target "
			   "'y.txt' is not\n" },
		{ .protect = "link.lnk y.txt",
		  .entries = "Ad .\nPl link.lnk\nPf y.txt\n" },
		/* No note for each link that "**" does not enter. */
		{ .protect = "**/*.csv",
		  .entries = "Ad .\nAd data\nPf data/1.csv\nAd data/sub\n"
			     "Pf data/sub/2.csv\n" },
	};

	check_all(rows, HF_COUNT(rows));
}

Test(scan, links_that_lead_astray)
{
	static const struct row row = {
		.protect = "*.far",
		.entries = "Ad .\nPl chain.far\nPl loop.far\nPl none.far\n"
			   "Pl out.far\nPl up.far\n",
		.notes = "the link 'none.far' is protected, its target "
			 "'nowhere' is not\n"
			 "the link 'out.far' is protected, its target "
			 "'/dev/null' is not\n",
	};

	cr_assert_eq(symlinkat("loop.far", root_fd, "loop.far"), 0);
	cr_assert_eq(symlinkat("nowhere", root_fd, "none.far"), 0);
	cr_assert_eq(symlinkat("/dev/null", root_fd, "out.far"), 0);
	cr_assert_eq(symlinkat("none.far", root_fd, "chain.far"), 0);
	cr_assert_eq(symlinkat("a/../loop.far", root_fd, "up.far"), 0);
	check(&row);
}

Test(scan, allowed_entries)
{
	static const struct row rows[] = {
		{ .protect = "*.toml", .allow = "x.toml",
		  .entries = "Ad .\nPf .hidden.toml\nLf x.toml\n" },
		{ .protect = "data/", .allow = "data/sub/",
		  .entries = "Ad .\nPd data\nPf data/1.csv\nPd data/empty\n"
			     "Ld data/sub\nLf data/sub/2.csv\n" },
		{ .protect = "none", .allow = "none",
		  .entries = "Ad .\nL- none\n" },
		{ .protect = "a/b/c/deep.toml", .allow = "a",
		  .entries = "Ad .\nAd a\nAd a/b\nAd a/b/c\n"
			     "Pf a/b/c/deep.toml\n" },
	};

	check_all(rows, HF_COUNT(rows));
}

Test(scan, what_an_entry_holds)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err;
	const struct hf_entry *entry;
	struct stat found;

	cr_assert_eq(scan("*.toml *.lnk", "", NULL, &tree, NULL, &err), 0);
	entry = hf_tree_find(&tree, "x.toml");
	cr_assert(entry);
	cr_assert_eq(fstatat(root_fd, "x.toml", &found, 0), 0);
	cr_expect_eq(entry->stat.size, 6);
	cr_expect_eq(entry->stat.ino, found.st_ino);
	cr_expect_eq(entry->stat.mode, 0644);
	cr_expect_str_eq(entry->rule, "*.toml");
	cr_expect_str_eq(entry->xattrs, "");
	cr_expect_null(entry->link);
	cr_expect_not(entry->has_hash);
	entry = hf_tree_find(&tree, "link.lnk");
	cr_assert(entry);
	cr_expect_str_eq(entry->link, "y.txt");
	cr_expect_str_eq(entry->rule, "*.lnk");
	entry = hf_tree_find(&tree, ".");
	cr_assert(entry);
	cr_expect_str_eq(entry->rule, "");
}

Test(scan, hard_links_are_entries_of_their_own)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err;

	cr_assert_eq(linkat(root_fd, "x.toml", root_fd, "again.toml", 0), 0);
	cr_assert_eq(scan("*.toml", "", NULL, &tree, NULL, &err), 0);
	cr_expect_str_eq(hf_tree_text(&tree), "Ad .\nPf .hidden.toml\n"
					      "Pf again.toml\nPf x.toml\n");
	cr_expect_eq(hf_tree_find(&tree, "again.toml")->stat.ino,
		     hf_tree_find(&tree, "x.toml")->stat.ino);
	cr_expect_eq(hf_tree_find(&tree, "x.toml")->stat.nlink, 2);
}

Test(scan, earlier_entries_are_looked_at_in_any_case)
{
	cleanup_tree struct hf_tree before = HF_TREE_INIT;
	cleanup_tree struct hf_tree after = HF_TREE_INIT;
	struct hf_error err;

	cr_assert_eq(scan("a/b/c/*.toml data/*.csv x.toml", "", NULL, &before,
			  NULL, &err),
		     0);
	cr_assert_eq(unlinkat(root_fd, "a/b/c/deep.toml", 0), 0);
	cr_assert_eq(unlinkat(root_fd, "data/1.csv", 0), 0);
	cr_assert_eq(renameat(root_fd, "data", root_fd, "moved"), 0);
	cr_assert_eq(symlinkat("moved", root_fd, "data"), 0);
	cr_assert_eq(scan("a/b/c/*.toml data/*.csv x.toml", "", &before, &after,
			  NULL, &err),
		     0);
	cr_expect_str_eq(hf_tree_text(&after),
			 "Ad .\nAd a\nAd a/b\nAd a/b/c\nP- a/b/c/deep.toml\n"
			 "Al data\nP- data/1.csv\nPf x.toml\n");
	cr_expect_str_eq(hf_tree_find(&after, "data/1.csv")->rule,
			 "data/*.csv");
}

Test(scan, an_entry_whose_name_vanished)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_entry *const entry = hf_tree_add(&tree, "x.toml");
	struct hf_error err;

	cr_assert_eq(hf_scan_entry(root_fd, "x.toml", &tree, entry, &err), 0);
	cr_expect_eq(entry->stat.kind, HF_KIND_FILE);
	entry->has_hash = true;
	cr_assert_eq(unlinkat(root_fd, "x.toml", 0), 0);
	cr_assert_eq(hf_scan_entry(root_fd, "x.toml", &tree, entry, &err), 0);
	cr_expect_eq(entry->stat.kind, HF_KIND_ABSENT);
	cr_expect_eq(entry->stat.size, 0);
	cr_expect_not(entry->has_hash);
}

Test(scan, parents)
{
	static const struct {
		const char *path;
		const char *parent;
		const char *name;
		int rc;
	} rows[] = {
		{"x.toml", ".", "x.toml", 0},
		{".", ".", ".", 0},
		{"a/b/c", "a/b", "c", 0},
		{"a/none/c", NULL, NULL, -ENOENT},
		{"y.txt/c", NULL, NULL, -ENOTDIR},
		{"link/1.csv", NULL, NULL, -ELOOP},
		{"/dev/null", "/dev", "null", 0},
		{"/dev", "/", "dev", 0},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const char *name = NULL;
		cleanup_fd int fd = hf_scan_open_parent(root_fd, rows[i].path,
							&name);

		cr_expect_eq(fd < 0 ? fd : 0, rows[i].rc, "%s: %d",
			     rows[i].path, fd);
		if (fd < 0)
			continue;
		cr_expect_str_eq(name, rows[i].name);
		cr_expect(hf_is_same(fd, root_fd, rows[i].parent), "%s",
			  rows[i].path);
	}
}
