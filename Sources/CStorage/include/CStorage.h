// What Swift cannot call of SQLite: functions with arguments of any kind, and those of an open file. A
// connection is a `sqlite3 *` that its own thread uses; each function leaves it as it is.
#ifndef RUNNEL_CSTORAGE_H
#define RUNNEL_CSTORAGE_H

/// How far the log of a database is, as all its connections know it.
struct runnel_log_state {
  /// How many frames of the log are in use; 0 for a log that begins anew.
  unsigned frames;
  /// How many of them were copied to the database file.
  unsigned copied;
  /// How many of them somebody began to copy.
  unsigned begun;
  /// The numbers that mark every frame of this log.
  unsigned char salts[8];
};

/// Reads the state of the log; -1 where there is none.
///
/// Only for a connection that has read something of a file with a write-ahead log.
///
/// Source: SQLite, "WAL-mode File Format", section 2.
int runnel_storage_log_state(void *connection, struct runnel_log_state *state);

/// Reads bytes of the database file itself, whatever is in the log; 0, or -1.
int runnel_storage_read_file(void *connection, void *bytes, int count, long long offset);

/// Returns 1 if the file's name leads to another file now, or to none, as SQLite sees it.
int runnel_storage_has_moved(void *connection);

/// Has SQLite leave the log as it is when the connection is closed: neither copied nor removed. 0 undoes it.
int runnel_storage_keep_log(void *connection, int keeps);

#endif
