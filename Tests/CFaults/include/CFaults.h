#ifndef CFAULTS_H
#define CFAULTS_H

// A virtual file system of SQLite that fails when told to, for tests.
//
// It stands before the system's own and passes everything on. Files whose path begins with a watched
// one can be made to fail; all others are as ever, so tests may run beside each other.

enum faults_kind {
  // An error of input or output at any operation.
  FAULTS_IO = 0,
  // No space is left when the file is to be written.
  FAULTS_FULL = 1,
  // Another process holds the lock that is asked for.
  FAULTS_BUSY = 2,
};

// Puts it before the system's file system, once for the process; 0 if that worked.
int faults_install(void);

// Watches the files whose path begins with `path`; returns their number, -1 if there are too many.
int faults_watch(const char *path);

// Fails at the given operation from now on, counted from 1; with `lasts`, at all after it too.
void faults_arm(int watched, long operation, enum faults_kind kind, int lasts);

// Fails no more; returns how many operations were counted since it was armed.
long faults_disarm(int watched);

// Lets waits for the disk last until `faults_release`, as if the disk were stuck.
void faults_hold(int watched);

// Lets those that wait go on; later ones wait.
void faults_step(int watched);

// Lets them go on.
void faults_release(int watched);

// How often the disk was waited for since `faults_hold` or `faults_step`, those that still wait included.
long faults_syncs(int watched);

// Ends the watch; its files must be closed.
void faults_unwatch(int watched);

#endif
