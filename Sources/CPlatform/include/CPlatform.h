// What Swift's Glibc module omits: eventfd, signalfd, inotify, locks of an opening, poll with one
// argument per descriptor, and threads that are set up before they run. No function keeps state; a descriptor returned belongs to the caller, who closes it
// with runnel_close. A failure is -1 with the reason in errno.
#ifndef RUNNEL_CPLATFORM_H
#define RUNNEL_CPLATFORM_H

#include <stdbool.h>
#include <stddef.h>

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

/// Blocks INT, TERM, HUP, TSTP, CONT, and WINCH in the calling thread, and ignores PIPE and XFSZ.
///
/// Threads started later inherit the mask, so call it before any starts. Children inherit it too:
/// give them runnel_signals_restore, or an empty mask through posix_spawn.
int runnel_signals_block(void);

/// Undoes runnel_signals_block for the calling thread and makes PIPE and XFSZ deadly again.
///
/// Safe between fork and exec.
int runnel_signals_restore(void);

/// Whether INT, TERM and HUP end the program at once in spite of runnel_signals_block, by the calling
/// thread: while it does what nothing may wait for, and nobody reads the signals.
int runnel_signals_let_end(bool lets);

/// Opens a signalfd for the signals that runnel_signals_block blocks.
int runnel_signalfd_open(void);

/// Reads the number of one pending signal; 0 when there is none.
int runnel_signalfd_read(int descriptor);

/// Stops the process group as C-z does at a terminal, and returns when it is continued.
///
/// Takes effect only after runnel_signals_block. Returns at once when nobody could continue the
/// process (an orphaned process group), because the kernel then discards the signal.
int runnel_stop_process_group(void);

// Poll.

/// Bits of runnel_poll's answer.
enum { RUNNEL_POLL_READABLE = 1, RUNNEL_POLL_HUNG_UP = 2 };

/// The most descriptors of one runnel_poll.
enum { RUNNEL_POLL_MAX = 16 };

/// Waits until a descriptor is readable or hung up, and writes one set of bits for each.
///
/// A negative timeout waits for ever. An interrupting signal does not shorten or lengthen the wait.
/// Returns the number of descriptors with a bit, 0 after the timeout.
int runnel_poll(
    const int *descriptors, unsigned char *answers, int count, int timeout_milliseconds);

// Threads.

/// Starts a thread that runs `body` with `context` and is never joined. 0, or -1.
///
/// Its stack has at least so many bytes, and at least those of the process's limit. Every signal is
/// blocked in it but those of faults and SIGQUIT, so that the thread that waits for them gets them. Of the name
/// the kernel keeps 15 bytes.
int runnel_thread_start(
    const char *name, size_t stack_bytes_min, void (*body)(void *), void *context);

// Other programs.

/// Runs a program to its end in a process group of its own, with the signals as they were before
/// runnel_signals_block, and returns its exit status, or 128 and the number of the signal that ended it.
///
/// `arguments` ends with NULL; the first one is looked for in PATH. 127 means that it was not found.
/// The group gets `terminal`, a descriptor, for as long as it runs; -1 for none. When the program is
/// stopped, as by C-z, this process stops too, and both go on together.
int runnel_run_in_terminal(const char *const arguments[], int terminal);

/// Runs a program with these bytes as its standard input and no output, and returns as above; a
/// program that takes longer than the timeout is ended, which is -1 with ETIMEDOUT.
int runnel_run_with_input(
    const char *const arguments[], const void *bytes, size_t count, int timeout_milliseconds);

// Files that others touch.

/// Opens an inotify descriptor that does not block and is not inherited by children.
int runnel_inotify_open(void);

/// Watches a directory for files made, moved in, written, touched, or closed after writing.
int runnel_inotify_add_watch(int descriptor, const char *directory);

/// Bits of runnel_inotify_drain's answer.
enum { RUNNEL_INOTIFY_NAMED = 1, RUNNEL_INOTIFY_GONE = 2, RUNNEL_INOTIFY_MOVED = 4 };

/// Reads all pending events, and returns a set of bits.
///
/// NAMED: one named the file (a name without a directory; an empty one stands for every file), or events
/// were lost or the watch is gone, so that the file may have been named. GONE: the directory is no more,
/// and nothing is heard of one that takes its place.
int runnel_inotify_drain(int descriptor, const char *name);

/// Watches the directory of a database as above, and for files deleted and moved out; and whether it, or one
/// above it, is moved or deleted itself.
///
/// `directory` is a whole path; one above it that may not be read is not watched.
int runnel_inotify_add_database_watch(int descriptor, const char *directory);

/// Reads all pending events, and returns a set of bits; see runnel_inotify_drain.
///
/// NAMED: the same of the database's file `beacon`. MOVED: the database's file (a name without a directory), its
/// log or the index of that may have been deleted, moved or replaced, or the file itself written.
int runnel_inotify_drain_database(int descriptor, const char *beacon, const char *file);

// Who still has a file open.

/// Locks one byte of a file, which need not exist, until the descriptor is closed or its process ends.
///
/// The descriptor must be open for writing. Returns 0, or -1 if another opening holds the byte.
int runnel_byte_lock(int descriptor, long long offset);

/// Lets go of all bytes that this opening holds. 0, or -1.
///
/// To close the descriptor does so only when no copy of it is left, and a program that is being started
/// has one for a while.
int runnel_bytes_unlock(int descriptor);

/// Returns 1 if another opening of the file holds the byte, 0 if none does.
int runnel_byte_is_locked(int descriptor, long long offset);

#endif
