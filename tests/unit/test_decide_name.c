/* SPDX-License-Identifier: MIT */
/* The gate's decisions about names, as a table. */
#include <criterion/criterion.h>

#include "support/decided.h"

static struct hf_decided decided;

static void setup(void)
{
	hf_decided_setup(&decided, HF_DECIDED_WIDE);
}

static void teardown(void)
{
	hf_decided_teardown(&decided);
}

TestSuite(decide_name, .init = setup, .fini = teardown, .timeout = 60);

#define PASS   HF_VERDICT_PASS
#define REFUSE HF_VERDICT_REFUSE
#define COPY   HF_VERDICT_COPY

#define OF_DIR	 HF_GATE_OF_DIRECTORY
#define INVALID	 HF_GATE_IS_INVALID
#define EXCHANGE HF_GATE_EXCHANGES
#define NEW_ONLY HF_GATE_EXCLUSIVE

#define PRESETS	 "presets.toml (*.toml)"
#define PERSONAS "personas.toml (*.toml)"
#define ADDITION "new.toml (*.toml)"
#define ABSENT	 "secret.key (secret.key)"
#define OF_STORE "/home/store (the store)"

#define ROW(what, ...)                              \
	{                                           \
		.name = what, HF_GATE_##__VA_ARGS__ \
	}

static const struct hf_decided_row made[] = {
	ROW("a link, wanted", CREATE, 0, {"new.toml"}, REFUSE, ADDITION, 3),
	ROW("a link, absent", CREATE, 0, {"secret.key"}, REFUSE, ABSENT, 3),
	ROW("a link, taken", CREATE, 0, {"presets.toml"}, PASS, NULL, 1),
	ROW("a link where a link leads to nothing", CREATE, 0,
	    {"other/dangling"}, PASS, NULL, 1),
	ROW("a link, taken out", CREATE, 0, {"free2.txt"}, PASS, NULL, 2),
	ROW("a link, with a slash", CREATE, 0, {"new.toml/"}, PASS, NULL, 0),
	ROW("a link, allowed", CREATE, 0, {"made-1.toml"}, PASS, NULL, 2),
	ROW("a link without permission", CREATE, 0, {"new.toml"}, PASS, NULL, 3,
	    .is_denied = true),
	ROW("a link in no directory", CREATE, 0, {"nowhere/new.toml"}, PASS,
	    NULL, 2),
	ROW("a link in a file", CREATE, 0, {"free.txt/new.toml"}, PASS, NULL,
	    1),
	ROW("a directory, wanted", CREATE, OF_DIR, {"new.toml"}, REFUSE,
	    ADDITION, 3),
	ROW("a directory, with a slash", CREATE, OF_DIR, {"new.toml/"}, REFUSE,
	    ADDITION, 3),
	ROW("a directory in a tree", CREATE, OF_DIR, {"data/new"}, REFUSE,
	    "data/new (data/)", 3),
	ROW("a directory, taken", CREATE, OF_DIR, {"data"}, PASS, NULL, 1),
	ROW("the working directory", CREATE, OF_DIR, {":."}, PASS, NULL, 0),
	ROW("in the store", CREATE, OF_DIR, {"/home/store/new"}, REFUSE,
	    OF_STORE, 3),
	ROW("a socket, wanted", BIND, 0, {"new.toml"}, REFUSE, ADDITION, 3),
	ROW("a socket in a tree", BIND, 0, {"data/socket"}, REFUSE,
	    "data/socket (data/)", 3),
	ROW("a socket, taken", BIND, 0, {"presets.toml"}, PASS, NULL, 1),
	ROW("a socket without a file", BIND, 0, {NULL}, PASS, NULL, 0),
};

Test(decide_name, made)
{
	hf_decided_expect(&decided, made, HF_COUNT(made));
}

static const struct hf_decided_row removed[] = {
	ROW("a file", REMOVE, 0, {"presets.toml"}, REFUSE, PRESETS, 3),
	ROW("a link", REMOVE, 0, {"latest.toml"}, REFUSE,
	    "latest.toml (*.toml)", 3),
	ROW("in a tree", REMOVE, 0, {"data/a.bin"}, REFUSE,
	    "data/a.bin (data/)", 3),
	ROW("deep", REMOVE, 0, {"sub/deep.cfg"}, REFUSE,
	    "sub/deep.cfg (**/*.cfg)", 3),
	ROW("outside the root", REMOVE, 0, {"/elsewhere/settings.ini"}, REFUSE,
	    "/elsewhere/settings.ini (/elsewhere/settings.ini)", 3),
	ROW("what stands there since", REMOVE, 0, {"stale.toml"}, REFUSE,
	    "stale.toml (*.toml)", 3),
	ROW("a side file", REMOVE, 0, {"app.db-wal"}, REFUSE,
	    "app.db-wal (app.db)", 3),
	ROW("a side cache", REMOVE, 0, {"app.db-shm"}, PASS, NULL, 2),
	ROW("allowed", REMOVE, 0, {"allowed.toml"}, PASS, NULL, 2),
	ROW("of the store", REMOVE, 0, {"/home/store/journal"}, REFUSE,
	    OF_STORE, 3),
	ROW("another name of a file", REMOVE, 0, {"other/hard"}, PASS, NULL, 0),
	ROW("a link to one", REMOVE, 0, {"other/link"}, PASS, NULL, 0),
	ROW("the same name elsewhere", REMOVE, 0, {"other/presets.toml"}, PASS,
	    NULL, 3),
	ROW("absent", REMOVE, 0, {"secret.key"}, PASS, NULL, 1),
	ROW("not there", REMOVE, 0, {"new.toml"}, PASS, NULL, 0),
	ROW("a directory as a file", REMOVE, 0, {"data"}, PASS, NULL, 1),
	ROW("a file with a slash", REMOVE, 0, {"presets.toml/"}, PASS, NULL, 1),
	ROW("with flags there are not", REMOVE, INVALID, {"presets.toml"}, PASS,
	    NULL, 0),
	ROW("without permission", REMOVE, 0, {"presets.toml"}, PASS, NULL, 3,
	    .is_denied = true),
	ROW("the working directory", REMOVE, 0, {":."}, PASS, NULL, 0),
	ROW("an empty directory", REMOVE_DIRECTORY, 0, {"data/empty"}, REFUSE,
	    "data/empty (data/)", 4),
	ROW("an empty directory with a slash", REMOVE_DIRECTORY, 0,
	    {"data/empty/"}, REFUSE, "data/empty (data/)", 4),
	ROW("a full directory", REMOVE_DIRECTORY, 0, {"data"}, PASS, NULL, 2),
	ROW("a file as a directory", REMOVE_DIRECTORY, 0, {"presets.toml"},
	    PASS, NULL, 1),
	ROW("an empty directory of nobody's", REMOVE_DIRECTORY, 0,
	    {"other/bare"}, PASS, NULL, 0),
	ROW("an empty directory of the store", REMOVE_DIRECTORY, 0,
	    {"/home/store/packs"}, REFUSE, OF_STORE, 4),
	ROW("where one stands, not what it is named", REMOVE_DIRECTORY, 0,
	    {":data/empty"}, PASS, NULL, 0),
};

Test(decide_name, removed)
{
	hf_decided_expect(&decided, removed, HF_COUNT(removed));
}

static const struct hf_decided_row renamed[] = {
	ROW("away", RENAME, 0, {"presets.toml", "other/p"}, REFUSE, PRESETS, 7),
	ROW("beside", RENAME, 0, {"presets.toml", "presets.bak"}, REFUSE,
	    PRESETS, 6),
	ROW("over another", RENAME, 0, {"free.txt", "presets.toml"}, REFUSE,
	    PRESETS, 6),
	ROW("to a new name that is wanted", RENAME, 0, {"free.txt", "new.toml"},
	    REFUSE, ADDITION, 6),
	ROW("to an absent name", RENAME, 0, {"free.txt", "secret.key"}, REFUSE,
	    ABSENT, 6),
	ROW("into a tree", RENAME, 0, {"free.txt", "data/new"}, REFUSE,
	    "data/new (data/)", 6),
	ROW("over an allowed one", RENAME, 0, {"free.txt", "allowed.toml"},
	    PASS, NULL, 4),
	ROW("an allowed one away", RENAME, 0, {"allowed.toml", "other/p"}, PASS,
	    NULL, 5),
	ROW("onto itself", RENAME, 0, {"presets.toml", "presets.toml"}, PASS,
	    NULL, 4),
	ROW("over a second name of it", RENAME, 0,
	    {"presets.toml", "other/hard"}, PASS, NULL, 4),
	ROW("only to a new name, taken", RENAME, NEW_ONLY,
	    {"free.txt", "presets.toml"}, PASS, NULL, 4),
	ROW("only to a new name", RENAME, NEW_ONLY, {"free.txt", "new.toml"},
	    REFUSE, ADDITION, 6),
	ROW("what is not there", RENAME, 0, {"none.toml", "presets.toml"}, PASS,
	    NULL, 4),
	ROW("to no directory", RENAME, 0, {"presets.toml", "nowhere/p"}, PASS,
	    NULL, 4),
	ROW("through a file", RENAME, 0, {"presets.toml", "free.txt/p"}, PASS,
	    NULL, 4),
	ROW("to another file system", RENAME, 0, {"presets.toml", "/tmp/p"},
	    PASS, NULL, 4),
	ROW("from another file system", RENAME, 0, {"/tmp/y", "presets.toml"},
	    PASS, NULL, 4),
	ROW("over a directory", RENAME, 0, {"presets.toml", "other/bare"}, PASS,
	    NULL, 5),
	ROW("a file with a slash", RENAME, 0, {"presets.toml/", "other/p"},
	    PASS, NULL, 4),
	ROW("to a slash", RENAME, 0, {"presets.toml", "other/p/"}, PASS, NULL,
	    4),
	ROW("with flags there are not", RENAME, INVALID,
	    {"presets.toml", "other/p"}, PASS, NULL, 0),
	ROW("without permission", RENAME, 0, {"presets.toml", "other/p"}, PASS,
	    NULL, 6, .is_denied = true),
	ROW("from where the caller may not", RENAME, 0,
	    {"free.txt", "presets.toml"}, PASS, NULL, 6,
	    .is_denied_from = true),
	ROW("the working directory", RENAME, 0, {":.", "other/p"}, PASS, NULL,
	    0),
	ROW("a link of the set", RENAME, 0, {"latest.toml", "other/p"}, REFUSE,
	    "latest.toml (*.toml)", 7),
	ROW("a second name", RENAME, 0, {"other/hard", "other/p"}, PASS, NULL,
	    5),
	ROW("of the store", RENAME, 0, {"/home/store/journal", "other/p"},
	    REFUSE, OF_STORE, 7),
	ROW("over one of the store", RENAME, 0,
	    {"free.txt", "/home/store/journal"}, REFUSE, OF_STORE, 6),
	ROW("both sides", RENAME, 0, {"presets.toml", "personas.toml"}, REFUSE,
	    PRESETS ", " PERSONAS, 6),

	/* Directories, and what is beneath them. */
	ROW("a tree", RENAME, 0, {"data", "other/d"}, REFUSE, "data (data/)+",
	    7),
	ROW("an ancestor", RENAME, 0, {"conf", "other/c"}, REFUSE, "conf ()+",
	    7),
	ROW("the directory above the root", RENAME, 0, {"/home", "/h"}, REFUSE,
	    "/home ()+", 6),
	ROW("the store", RENAME, 0, {"/home/store", "/home/s"}, REFUSE,
	    OF_STORE, 6),
	ROW("a directory of nobody's", RENAME, 0, {"other", "another"}, PASS,
	    NULL, 4),
	ROW("over an empty one of a tree", RENAME, 0,
	    {"other/bare", "data/empty"}, REFUSE, "data/empty (data/)", 7),
	ROW("over a full one", RENAME, 0, {"other/bare", "data"}, PASS, NULL,
	    5),
	ROW("a directory over a file", RENAME, 0,
	    {"other/bare", "presets.toml"}, PASS, NULL, 4),

	/* Exchanges. */
	ROW("exchange", RENAME, EXCHANGE, {"presets.toml", "other/x.txt"},
	    REFUSE, PRESETS, 7),
	ROW("exchange, the second", RENAME, EXCHANGE,
	    {"other/x.txt", "presets.toml"}, REFUSE, PRESETS, 7),
	ROW("exchange both", RENAME, EXCHANGE,
	    {"presets.toml", "personas.toml"}, REFUSE, PRESETS ", " PERSONAS,
	    6),
	ROW("exchange with nothing", RENAME, EXCHANGE,
	    {"presets.toml", "other/p"}, PASS, NULL, 4),
	ROW("exchange a tree with a file", RENAME, EXCHANGE,
	    {"data", "other/x.txt"}, REFUSE, "data (data/)+", 7),
	ROW("exchange of nobody's", RENAME, EXCHANGE,
	    {"free.txt", "other/x.txt"}, PASS, NULL, 5),
};

Test(decide_name, renamed)
{
	hf_decided_expect(&decided, renamed, HF_COUNT(renamed));
}

static const struct hf_decided_row linked[] = {
	ROW("a second name", LINK, 0, {"presets.toml", "other/p"}, COPY,
	    "- (-)", 6),
	ROW("a second name that is wanted", LINK, 0,
	    {"presets.toml", "new.toml"}, REFUSE, ADDITION, 5),
	ROW("a name that is taken", LINK, 0, {"free.txt", "presets.toml"}, PASS,
	    NULL, 2),
	ROW("a wanted name for a free file", LINK, 0, {"free.txt", "new.toml"},
	    REFUSE, ADDITION, 5),
	ROW("an absent name", LINK, 0, {"free.txt", "secret.key"}, REFUSE,
	    ABSENT, 5),
	ROW("a free name for a free file", LINK, 0, {"free.txt", "other/p"},
	    PASS, NULL, 5),
	ROW("what is not there", LINK, 0, {"none", "new.toml"}, PASS, NULL, 3),
	ROW("a directory", LINK, 0, {"data", "new.toml"}, PASS, NULL, 2),
	ROW("to another file system", LINK, 0, {"/tmp/y", "new.toml"}, PASS,
	    NULL, 4),
	ROW("a descriptor, wanted", LINK, 0, {":free.txt", "new.toml"}, REFUSE,
	    ADDITION, 4),
	ROW("a descriptor", LINK, 0, {":presets.toml", "other/p"}, COPY,
	    "- (-)", 5),
	ROW("of a link", LINK, 0, {"other/link", "other/p"}, PASS, NULL, 5),
	ROW("through a link", LINK, 0, {"other/link", "other/p"}, COPY, "- (-)",
	    6, .is_link_followed = true),
	ROW("through a link of another file system", LINK, 0,
	    {"/tmp/link", "new.toml"}, REFUSE, ADDITION, 5,
	    .is_link_followed = true),
	ROW("through a link of another file system, free", LINK, 0,
	    {"/tmp/link", "other/p"}, COPY, "- (-)", 6,
	    .is_link_followed = true),
	ROW("to a slash", LINK, 0, {"presets.toml", "other/p/"}, PASS, NULL, 0),
	ROW("an allowed one", LINK, 0, {"allowed.toml", "other/p"}, PASS, NULL,
	    5),
	ROW("a copy without permission", LINK, 0, {"presets.toml", "other/p"},
	    PASS, NULL, 6, .is_denied = true),
};

Test(decide_name, linked)
{
	hf_decided_expect(&decided, linked, HF_COUNT(linked));
}

static const struct hf_decided_row mounted[] = {
	ROW("over a file", MOUNT, 0, {"presets.toml"}, REFUSE, PRESETS, 2),
	ROW("over a tree", MOUNT, 0, {"data"}, REFUSE, "data (data/)", 2),
	ROW("over an ancestor", MOUNT, 0, {"conf"}, REFUSE, "conf ()", 2),
	ROW("over the root", MOUNT, 0, {":."}, REFUSE, ". ()", 2),
	ROW("over what is above", MOUNT, 0, {"/home"}, REFUSE, "/home ()", 2),
	ROW("over the store", MOUNT, 0, {"/home/store"}, REFUSE, OF_STORE, 2),
	ROW("over nobody's", MOUNT, 0, {"other"}, PASS, NULL, 1),
	ROW("over what is allowed", MOUNT, 0, {"allowed.toml"}, PASS, NULL, 1),
	ROW("over nothing", MOUNT, 0, {"none"}, PASS, NULL, 1),
	ROW("over one, invalid", MOUNT, INVALID, {"data"}, PASS, NULL, 0),
	ROW("by somebody who may not", MOUNT, 0, {"data"}, PASS, NULL, 2,
	    .is_denied = true),
	/* Nothing is mounted there: it fails by itself. */
	ROW("nothing off", UNMOUNT, 0, {"data"}, PASS, NULL, 2,
	    .is_same = true),
	ROW("off what is above", UNMOUNT, 0, {"/tmp"}, REFUSE, "/tmp ()", 3),
	ROW("off where one stands", UNMOUNT, 0, {":/tmp"}, REFUSE, "/tmp ()",
	    3),
	ROW("off nobody's", UNMOUNT, 0, {"other"}, PASS, NULL, 1),
};

Test(decide_name, mounted)
{
	hf_decided_expect(&decided, mounted, HF_COUNT(mounted));
}
