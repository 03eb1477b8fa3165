// SQLite functions that Swift cannot call: variadic functions, and those of an open file. A
// connection is a `sqlite3 *` that its own thread uses; each function leaves it as it is.
#ifndef RUNNEL_CSTORAGE_H
#define RUNNEL_CSTORAGE_H

/// The state of a database's log, as all its connections know it.
struct runnel_log_state {
  /// The number of frames in use; 0 for a log that begins anew.
  unsigned frames;
  /// The number of frames that were copied to the database file.
  unsigned copied;
  /// The number of frames that a connection has begun to copy.
  unsigned begun;
  /// The salts, which every frame of this log repeats.
  unsigned char salts[8];
};

/// Reads the state of the log; returns -1 if there is none.
///
/// Only for a connection that has read from a file with a write-ahead log.
///
/// Source: SQLite, "WAL-mode File Format", section 2.
int runnel_storage_log_state(void *connection, struct runnel_log_state *state);

/// Returns 1 if the index of the log knows every frame in use, so that SQLite finds its page; 0 if a part of
/// the index is empty, as after it was cut off; -1 if there is no index. O(n) in the frames.
///
/// The caller has read from the file, and reads the state of the log before and after: the index of a log
/// that began anew meanwhile tells nothing.
///
/// Source: SQLite, "WAL-mode File Format", section 2.
int runnel_storage_index_is_whole(void *connection);

/// Reads bytes of the database file itself, without the log; returns 0, or -1.
int runnel_storage_read_file(void *connection, void *bytes, int count, long long offset);

/// Returns 1 if SQLite finds that the file's name leads to another file now, or to none.
int runnel_storage_has_moved(void *connection);

/// Makes SQLite leave the log as it is when the connection is closed: neither copied nor removed. 0
/// undoes this.
int runnel_storage_keep_log(void *connection, int keeps);

/// Keeps the process alive when another program cuts off the index of a log that is in use (`-shm`): its
/// handler of SIGBUS puts empty memory in the place of that index. A handler that is installed later has to
/// be followed by another call.
void runnel_storage_guard_index(void);

/// Returns how many times an index with an inode was found to be cut off by that handler.
unsigned runnel_storage_index_cuts(unsigned long inode);

/// Adds bytes, a multiple of 8, to the running checksum of a log, whose words are of one byte order.
///
/// Source: SQLite, "Database File Format", section 4.2.
void runnel_storage_log_sum(const void *bytes, long count, int is_big_endian, unsigned sums[2]);

/// Reads the first bytes of a file in a process of its own; returns how many, or -1.
///
/// A process that closes a file gives up its locks on it, whoever in it made them. So an index that another
/// thread may have just opened is not opened here.
long runnel_storage_read_apart(const char *path, void *bytes, long count);

/// Returns when the machine was started, in seconds since 1970, or -1.
long long runnel_storage_machine_start(void);

/// Gives a file another name if nothing has it; returns 0, or the number of the error (EEXIST: the name is
/// taken; EINVAL or ENOSYS: the file system cannot do this).
int runnel_storage_rename_new(const char *from, const char *to);

#endif
