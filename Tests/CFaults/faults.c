#include "CFaults.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#define WATCHED_MAX 16
#define PATH_MAX_BYTES 512

struct watched {
  char path[PATH_MAX_BYTES];
  int is_armed;
  enum faults_kind kind;
  int lasts;
  long operation;
  long count;
  int is_held;
  long steps;
  long syncs;
};

struct file {
  sqlite3_file base;
  int watched;
  // The system's own file follows.
  sqlite3_file real[1];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static struct watched all[WATCHED_MAX];
static sqlite3_vfs *system_vfs;
static sqlite3_vfs faulty_vfs;
static sqlite3_io_methods faulty_methods;

static sqlite3_file *real(sqlite3_file *file) { return ((struct file *)file)->real; }

// True if an operation of a kind is to fail now.
static int fails(sqlite3_file *file, enum faults_kind kind) {
  int number = ((struct file *)file)->watched;
  int result = 0;
  if (number < 0) return 0;
  pthread_mutex_lock(&mutex);
  struct watched *watched = &all[number];
  if (watched->is_armed && watched->kind == kind) {
    watched->count += 1;
    result = watched->lasts ? watched->count >= watched->operation
                            : watched->count == watched->operation;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

static int is_watched(sqlite3_file *file) { return ((struct file *)file)->watched >= 0; }

static int file_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  if (fails(file, FAULTS_IO)) return SQLITE_IOERR_READ;
  return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  if (fails(file, FAULTS_IO)) {
    // What fails may have been done in part.
    real(file)->pMethods->xWrite(real(file), bytes, count / 2, offset);
    return SQLITE_IOERR_WRITE;
  }
  if (fails(file, FAULTS_FULL)) return SQLITE_FULL;
  return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  if (fails(file, FAULTS_IO)) return SQLITE_IOERR_TRUNCATE;
  return real(file)->pMethods->xTruncate(real(file), size);
}

// The machine does not end within a test, so waiting for the disk would only take time: it is not waited
// for unless it is stuck.
static void wait_for_disk(int number) {
  pthread_mutex_lock(&mutex);
  all[number].syncs += 1;
  long steps = all[number].steps;
  while (all[number].is_held && all[number].steps == steps) pthread_cond_wait(&released, &mutex);
  pthread_mutex_unlock(&mutex);
}

static int file_sync(sqlite3_file *file, int flags) {
  if (fails(file, FAULTS_IO)) return SQLITE_IOERR_FSYNC;
  if (is_watched(file)) {
    wait_for_disk(((struct file *)file)->watched);
    return SQLITE_OK;
  }
  return real(file)->pMethods->xSync(real(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  if (fails(file, FAULTS_IO)) return SQLITE_IOERR_FSTAT;
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int lock) {
  if (fails(file, FAULTS_BUSY)) return SQLITE_BUSY;
  return real(file)->pMethods->xLock(real(file), lock);
}

static int file_unlock(sqlite3_file *file, int lock) {
  return real(file)->pMethods->xUnlock(real(file), lock);
}

static int file_check_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int file_traits(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int file_shm_map(
    sqlite3_file *file, int region, int size, int extends, void volatile **address) {
  if (fails(file, FAULTS_IO)) return SQLITE_IOERR_SHMMAP;
  return real(file)->pMethods->xShmMap(real(file), region, size, extends, address);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  // The lock of writers is the first. For the others SQLite itself tries again for ten seconds.
  int is_write = offset == 0 && (flags & SQLITE_SHM_LOCK) && (flags & SQLITE_SHM_EXCLUSIVE);
  if (is_write && fails(file, FAULTS_BUSY)) return SQLITE_BUSY;
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

static int file_shm_unmap(sqlite3_file *file, int deletes) {
  return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

static int vfs_open(
    sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *opened, int flags, int *out_flags) {
  struct file *file = (struct file *)opened;
  (void)vfs;
  file->watched = -1;
  pthread_mutex_lock(&mutex);
  for (int number = 0; name && number < WATCHED_MAX; number++) {
    size_t length = strlen(all[number].path);
    if (length > 0 && strncmp(name, all[number].path, length) == 0) file->watched = number;
  }
  pthread_mutex_unlock(&mutex);
  file->base.pMethods = NULL;
  int result = system_vfs->xOpen(system_vfs, name, file->real, flags, out_flags);
  if (file->real->pMethods) file->base.pMethods = &faulty_methods;
  return result;
}

int faults_install(void) {
  static int is_installed;
  int result = 0;
  pthread_mutex_lock(&mutex);
  if (!is_installed) {
    system_vfs = sqlite3_vfs_find(NULL);
    faulty_vfs = *system_vfs;
    faulty_vfs.zName = "faulty";
    faulty_vfs.szOsFile = (int)sizeof(struct file) + system_vfs->szOsFile;
    faulty_vfs.xOpen = vfs_open;
    faulty_methods = (sqlite3_io_methods){
      .iVersion = 2, .xClose = file_close, .xRead = file_read, .xWrite = file_write,
      .xTruncate = file_truncate, .xSync = file_sync, .xFileSize = file_size,
      .xLock = file_lock, .xUnlock = file_unlock, .xCheckReservedLock = file_check_lock,
      .xFileControl = file_control, .xSectorSize = file_sector_size,
      .xDeviceCharacteristics = file_traits, .xShmMap = file_shm_map, .xShmLock = file_shm_lock,
      .xShmBarrier = file_shm_barrier, .xShmUnmap = file_shm_unmap,
    };
    result = sqlite3_vfs_register(&faulty_vfs, 1);
    is_installed = result == SQLITE_OK;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

int faults_watch(const char *path) {
  int result = -1;
  if (strlen(path) >= PATH_MAX_BYTES) return -1;
  pthread_mutex_lock(&mutex);
  for (int number = 0; number < WATCHED_MAX && result < 0; number++) {
    if (all[number].path[0]) continue;
    memset(&all[number], 0, sizeof all[number]);
    strcpy(all[number].path, path);
    result = number;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

void faults_arm(int watched, long operation, enum faults_kind kind, int lasts) {
  pthread_mutex_lock(&mutex);
  all[watched].is_armed = 1;
  all[watched].kind = kind;
  all[watched].lasts = lasts;
  all[watched].operation = operation;
  all[watched].count = 0;
  pthread_mutex_unlock(&mutex);
}

long faults_disarm(int watched) {
  pthread_mutex_lock(&mutex);
  all[watched].is_armed = 0;
  long count = all[watched].count;
  pthread_mutex_unlock(&mutex);
  return count;
}

void faults_hold(int watched) {
  pthread_mutex_lock(&mutex);
  all[watched].is_held = 1;
  all[watched].syncs = 0;
  pthread_mutex_unlock(&mutex);
}

void faults_step(int watched) {
  pthread_mutex_lock(&mutex);
  all[watched].steps += 1;
  all[watched].syncs = 0;
  pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&mutex);
}

void faults_release(int watched) {
  pthread_mutex_lock(&mutex);
  all[watched].is_held = 0;
  pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&mutex);
}

long faults_syncs(int watched) {
  pthread_mutex_lock(&mutex);
  long count = all[watched].syncs;
  pthread_mutex_unlock(&mutex);
  return count;
}

void faults_unwatch(int watched) {
  pthread_mutex_lock(&mutex);
  all[watched].path[0] = 0;
  pthread_mutex_unlock(&mutex);
}
