#include "CPlatform.h"

#include <time.h>

// The runtime of Swift calls these, if they are set, for each job that no actor or executor of its own runs.
#define SWIFT_CALL __attribute__((swiftcall))
extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *job, void *original);
extern SWIFT_CALL void (*swift_task_enqueueGlobalWithDelay_hook)(
    unsigned long long delay, void *job, void *original);
extern SWIFT_CALL void (*swift_task_enqueueGlobalWithDeadline_hook)(
    long long seconds, long long nanoseconds, long long tolerance_seconds,
    long long tolerance_nanoseconds, int clock, void *job, void *original);

static runnel_job_runner run_job;

static SWIFT_CALL void run(void *job, void *original) { run_job(job, 0); }

static SWIFT_CALL void run_after(unsigned long long delay, void *job, void *original) {
  run_job(job, (int64_t)delay);
}

static SWIFT_CALL void run_at(
    long long seconds, long long nanoseconds, long long tolerance_seconds,
    long long tolerance_nanoseconds, int clock, void *job, void *original) {
  // 1 is the clock that goes on while the machine sleeps, 2 the one that does not.
  struct timespec now;
  clock_gettime(clock == 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now);
  int64_t delay = (seconds - now.tv_sec) * INT64_C(1000000000) + nanoseconds - now.tv_nsec;
  run_job(job, delay < 0 ? 0 : delay);
}

void runnel_tasks_run_by(runnel_job_runner runner) {
  run_job = runner;
  swift_task_enqueueGlobal_hook = run;
  swift_task_enqueueGlobalWithDelay_hook = run_after;
  swift_task_enqueueGlobalWithDeadline_hook = run_at;
}
