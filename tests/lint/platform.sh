#!/bin/sh
# SPDX-License-Identifier: MIT
# Outside src/platform/ there is only the C library: no other system header, no
# #if about a system, no system call in what the compiler made of it.
#
#	platform.sh TOP BUILD
set -eu
cd "$1"
build=$2

standard='assert complex ctype errno fenv float inttypes iso646 limits locale
	math setjmp stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
	stdnoreturn string tgmath time uchar wchar wctype'
# Behind their doors, see includes.sh.
libraries='xxhash archive archive_entry zstd cjson/cJSON'

allowed=$(echo $standard $libraries | tr ' ' '|')
if grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' src include |
	grep -v '^src/platform/' |
	grep -vE "<($allowed)\.h>|^src/cli/options\.c:.*<getopt\.h>"; then
	echo 'a header that not every system has, outside src/platform/'
	failed=1
fi

systems='__linux|__linux__|linux|_WIN32|_WIN64|__MINGW|__CYGWIN__|__APPLE__'
systems="$systems|__unix|__unix__|__FreeBSD__|__NetBSD__|__OpenBSD__"
systems="$systems|__GLIBC__|__MUSL__|__ANDROID__|_MSC_VER|__sun"
if grep -rnE "^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif).*\b($systems)" \
	src include | grep -v '^src/platform/'; then
	echo 'an #if about a system, outside src/platform/'
	failed=1
fi

# The C library declares some of these in its standard headers, and a prototype
# can be written by hand: so look at the objects.
calls='accept access acct adjtimex alarm bind brk capget capset chdir chmod chown
	chroot clock_gettime clock_nanosleep clone close closedir confstr connect
	copy_file_range creat daemon dprintf dup dup2 dup3 epoll_create1 epoll_ctl
	epoll_wait eventfd execl execle execlp execv execve execvp execvpe
	faccessat fallocate fanotify_init fchdir fchmod fchmodat fchown fchownat
	fcntl fdatasync fdopen fdopendir fexecve fgetxattr fileno flistxattr flock
	fork forkpty fpathconf fremovexattr fsetxattr fstat fstatat fstatfs
	fstatvfs fsync ftruncate ftw futimens futimes getcwd getdelim getegid
	geteuid getgid getgrgid getgrnam getgroups gethostname getline getopt
	getopt_long getpagesize getpgid getpgrp getpid getppid getpriority
	getpwnam getpwuid getrandom getresuid getrlimit getrusage getsid getsockopt
	gettid gettimeofday getuid getxattr glob inotify_add_watch inotify_init
	inotify_init1 inotify_rm_watch ioctl isatty kill killpg lchown lgetxattr
	link linkat listen listxattr llistxattr lockf lremovexattr lseek lsetxattr
	lstat madvise memfd_create mincore mkdir mkdirat mkdtemp mkfifo mkfifoat
	mknod mknodat mkostemp mkstemp mlock mmap mount mprotect msync munmap
	nanosleep nftw open open_memstream openat opendir openpty pathconf pause
	pidfd_open pidfd_send_signal pipe pipe2 poll popen posix_fadvise
	posix_fallocate posix_spawn posix_spawnp ppoll prctl pread preadv
	process_vm_readv pselect pthread_create pthread_join pthread_kill
	pthread_mutex_lock pthread_sigmask ptrace pwrite pwritev raise read readdir
	readlink readlinkat readv realpath recv recvfrom recvmsg regcomp regexec
	removexattr renameat renameat2 rmdir scandir select send sendfile sendmsg
	sendto setegid setenv seteuid setgid setgroups setpgid setpriority
	setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid
	setxattr shutdown sigaction sigaddset sigemptyset sigfillset signal
	signalfd sigprocmask sigsuspend sigtimedwait sigwait sleep socket
	socketpair splice stat statfs statvfs statx strerror_r strsignal symlink
	symlinkat sync sync_file_range syncfs syscall sysconf sysinfo system
	tcgetattr tcgetpgrp tcsetattr tcsetpgrp tee tgkill timerfd_create
	timerfd_settime times truncate ttyname umask umount umount2 uname unlink
	unlinkat unsetenv unshare usleep utime utimensat utimes vfork vmsplice wait
	wait3 wait4 waitid waitpid wordexp write writev'
# remove() and rename() are ISO C, but act on paths: platform's as well.
calls="$calls remove rename tmpfile tmpnam"
# getenv() has its own rule in style.sh.  getopt_long() is wherever we mean to go;
# what it keeps in global variables stays in one file.

# gate_generate is a part of platform that runs when holdfast is built.
objects=$(find "$build/src/CMakeFiles" -name '*.o' |
	grep -vE '/(hf_platform|gate_generate)\.dir/' || true)
if [ -z "$objects" ]; then
	echo "no objects below $build/src: build first"
	exit 1
fi
for object in $objects; do
	case $object in
	*/hf_cli.dir/cli/options.c.o) may=getopt_long ;;
	*) may= ;;
	esac
	# "(null)" is what nm prints for no name; @VERSION is cut off.
	nm -u "$object" | awk -v object="${object#"$build"/}" -v calls="$calls" \
		-v may="$may" '
		BEGIN {
			count = split(calls, names, /[ \t\n]+/)
			for (i = 1; i <= count; i++) {
				denied[names[i]] = 1
				denied[names[i] "64"] = 1
				denied["__" names[i] "_chk"] = 1
			}
		}
		{
			sub(/@.*/, "", $2)
			if ($2 in denied && $2 != may) {
				print object ": calls " $2 "()"
				bad = 1
			}
		}
		END { exit bad }' || failed=1
done
[ -z "${failed:-}" ] || echo 'system calls belong to src/platform/'

exit "${failed:-0}"
