// Functions that Swift's Glibc module omits: eventfd, signalfd, inotify, locks of an opening, poll
// with one argument per descriptor, threads that are set up before they run, where tasks run, and the
// command line. Only the last functions keep state. A returned descriptor belongs to the caller, who closes it with
// runnel_close. A failure is -1 with the reason in errno.
#ifndef RUNNEL_CPLATFORM_H
#define RUNNEL_CPLATFORM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Closes a descriptor that one of the functions below opened.
void runnel_close(int descriptor);

// Wake-ups.

/// Opens an eventfd that does not block and is not inherited by children.
int runnel_eventfd_open(void);

/// Makes the eventfd readable. Any thread may call it; calls before the next drain count as one.
int runnel_eventfd_signal(int descriptor);

/// Makes the eventfd unreadable again. Returns 1 when it was readable, 0 when not.
int runnel_eventfd_drain(int descriptor);

// Signals.

/// Blocks INT, TERM, HUP, USR1, USR2, ALRM, TSTP, CONT, and WINCH in the calling thread, and
/// ignores PIPE and XFSZ.
///
/// Threads started later inherit the mask, so call it before any starts. Children inherit it too:
/// give them runnel_signals_restore, or an empty mask through posix_spawn.
int runnel_signals_block(void);

/// Undoes runnel_signals_block for the calling thread and makes PIPE and XFSZ deadly again.
///
/// Safe between fork and exec.
int runnel_signals_restore(void);

/// Whether a signal is one of those that ask the program to end: INT, TERM, HUP, USR1, USR2, ALRM.
bool runnel_signal_ends(int number);

/// Sets whether the signals that ask the program to end do so at once despite runnel_signals_block, by the
/// calling thread: for work during which nothing may wait for them, and no thread reads the
/// signals.
int runnel_signals_let_end(bool lets);

/// Opens a signalfd for the signals that runnel_signals_block blocks.
int runnel_signalfd_open(void);

/// Reads the number of one pending signal; 0 when there is none.
int runnel_signalfd_read(int descriptor);

/// Stops the process group as C-z does at a terminal, and returns when it is continued.
///
/// Takes effect only after runnel_signals_block. Returns at once if no process could continue this
/// one (an orphaned process group), because the kernel then discards the signal.
int runnel_stop_process_group(void);

// Poll.

/// Bits of runnel_poll's answer.
enum { RUNNEL_POLL_READABLE = 1, RUNNEL_POLL_HUNG_UP = 2 };

/// The most descriptors of one runnel_poll.
enum { RUNNEL_POLL_MAX = 16 };

/// Waits until a descriptor is readable or hung up, and writes one set of bits for each.
///
/// A negative timeout waits forever. An interrupting signal does not shorten or lengthen the wait.
/// Returns the number of descriptors with a bit, 0 after the timeout.
int runnel_poll(
    const int *descriptors, unsigned char *answers, int count, int timeout_milliseconds);

// Threads.

//// Blocks in the calling thread the signals that are blocked in threads of runnel_thread_start, and keeps
/// its mask in `before`: threads that others start until runnel_signals_release inherit it, so that signals
/// go to the thread that waits for them.
void runnel_signals_hold(sigset_t *before);

/// Gives the calling thread the mask that it had before runnel_signals_hold.
void runnel_signals_release(const sigset_t *before);

// Starts a thread that runs `body` with `context` and is never joined. Returns 0, or -1.
///
/// Its stack has at least stack_bytes_min bytes, and at least the limit of the process. Every
/// signal is blocked in it except faults and SIGQUIT, so that signals go to the thread that waits
/// for them. The kernel keeps 15 bytes of the name.
int runnel_thread_start(
    const char *name, size_t stack_bytes_min, void (*body)(void *), void *context);

// Other programs.

/// Runs a program to its end in a process group of its own, with the signals as they were before
/// runnel_signals_block, and returns its exit status, or 128 and the number of the signal that ended it.
///
/// `arguments` ends with NULL; the first one is looked up in PATH. 127 means that it was not found.
/// The group gets `terminal`, a descriptor, while it runs; -1 for none. When the program is
/// stopped, as by C-z, this process stops too, and both go on together.
int runnel_run_in_terminal(const char *const arguments[], int terminal);

/// Runs a program with these bytes as its standard input and no output, and returns as above. A
/// program that exceeds the timeout is killed, and the result is -1 with ETIMEDOUT.
int runnel_run_with_input(
    const char *const arguments[], const void *bytes, size_t count, int timeout_milliseconds);

// Files that others touch.

/// Opens an inotify descriptor that does not block and is not inherited by children.
int runnel_inotify_open(void);

/// Watches a directory for files made, moved in, written, touched, or closed after writing.
int runnel_inotify_add_watch(int descriptor, const char *directory);

/// Watches a directory as `runnel_inotify_add_watch` does, and for files removed or moved away; a file that
/// is written is told when its writer closes it.
int runnel_inotify_add_file_watch(int descriptor, const char *directory);

/// Bits of runnel_inotify_drain's answer.
enum { RUNNEL_INOTIFY_NAMED = 1, RUNNEL_INOTIFY_GONE = 2, RUNNEL_INOTIFY_MOVED = 4 };

/// Reads all pending events, and returns a set of bits.
///
/// NAMED: an event named the file (a name without a directory; an empty one stands for every file; one that
/// begins with a slash for all names between its slashes, as in `/a/b/`), or events were lost or the watch is gone, so that the file may have been named. GONE: the
/// directory is gone, and a directory that takes its place is not watched.
int runnel_inotify_drain(int descriptor, const char *name);

/// Watches the directory of a database as above, and also for files deleted and moved out; and for
/// moving or deleting the directory itself or one above it.
///
/// `directory` is an absolute path; a directory above it that is not readable is not watched. Of writes
/// without a close, only those of `file`, the database file itself, are told.
int runnel_inotify_add_database_watch(
    int descriptor, const char *directory, const char *file);

/// Reads all pending events, and returns a set of bits; see runnel_inotify_drain.
///
/// NAMED: as above, for the database's file `beacon`. MOVED: the database's file (a name without a
/// directory), its log or the log's index may have been deleted, moved, replaced or closed after
/// writing, or the file itself written.
int runnel_inotify_drain_database(int descriptor, const char *beacon, const char *file);

// Locks that show whether a file is still open.

/// Locks one byte of a file, which need not exist, until the descriptor is closed or its process ends.
///
/// The descriptor must be open for writing. Returns 0, or -1 if another opening holds the byte.
int runnel_byte_lock(int descriptor, long long offset);

/// Releases all bytes that this opening holds. Returns 0, or -1.
///
/// Closing the descriptor does so only when no copy of it is left, and a program that is being
/// started has a copy for a while.
int runnel_bytes_unlock(int descriptor);

/// Returns 1 if another opening of the file holds the byte, 0 if none does.
int runnel_byte_is_locked(int descriptor, long long offset);

// Returns how many bytes of its memory the allocator holds that nobody uses; some of them may have been
// given back to the system.
long long runnel_memory_spare(void);

// Gives unused memory back to the system.
void runnel_memory_trim(void);

// Tasks.

/// Runs a job of Swift's concurrency after so many nanoseconds.
typedef void (*runnel_job_runner)(void *job, int64_t delay);

/// Has the jobs that no executor of their own runs be run by a function, and not by the pool of the
/// runtime. Call it before the first task, once.
void runnel_tasks_run_by(runnel_job_runner runner);

// The command line.

/// The number of words of the command line, with the name of the program.
///
/// The runtime of Swift looks for the words beside the environment, and finds none if a preloaded library
/// has changed that.
int runnel_argument_count(void);

/// A word of the command line, or NULL if there is none.
const char *runnel_argument(int index);

#endif
