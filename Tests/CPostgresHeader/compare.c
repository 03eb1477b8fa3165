#include "CPostgresHeader.h"

#if __has_include(<postgresql/libpq-fe.h>)

#include <postgresql/libpq-fe.h>
#include <stddef.h>

#include "../../Sources/CPostgres/include/CPostgres.h"

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)
SAME(RUNNEL_PQ_CONNECTION_OK, CONNECTION_OK);
SAME(RUNNEL_PQ_CONNECTION_BAD, CONNECTION_BAD);
SAME(RUNNEL_PQ_POLLING_FAILED, PGRES_POLLING_FAILED);
SAME(RUNNEL_PQ_POLLING_READING, PGRES_POLLING_READING);
SAME(RUNNEL_PQ_POLLING_WRITING, PGRES_POLLING_WRITING);
SAME(RUNNEL_PQ_POLLING_OK, PGRES_POLLING_OK);
SAME(RUNNEL_PQ_COMMAND_OK, PGRES_COMMAND_OK);
SAME(RUNNEL_PQ_TUPLES_OK, PGRES_TUPLES_OK);
SAME(RUNNEL_PQ_FATAL_ERROR, PGRES_FATAL_ERROR);
SAME(RUNNEL_PQ_PIPELINE_SYNC, PGRES_PIPELINE_SYNC);
SAME(RUNNEL_PQ_PIPELINE_ABORTED, PGRES_PIPELINE_ABORTED);
SAME(RUNNEL_PQ_VERBOSE, PQERRORS_VERBOSE);
SAME(RUNNEL_PQ_SQLSTATE, 'C');
SAME(RUNNEL_PQ_PRIMARY, 'M');
SAME(RUNNEL_PQ_DETAIL, 'D');

SAME(sizeof(struct runnel_pq_option), sizeof(PQconninfoOption));
#define SAME_FIELD(ours, theirs) \
  SAME(offsetof(struct runnel_pq_option, ours), offsetof(PQconninfoOption, theirs))
SAME_FIELD(keyword, keyword);
SAME_FIELD(environment, envvar);
SAME_FIELD(built_in, compiled);
SAME_FIELD(value, val);
SAME_FIELD(label, label);
SAME_FIELD(display_kind, dispchar);
SAME_FIELD(display_size, dispsize);

SAME(sizeof(struct runnel_pq_notification), sizeof(PGnotify));
SAME(offsetof(struct runnel_pq_notification, channel), offsetof(PGnotify, relname));
SAME(offsetof(struct runnel_pq_notification, process), offsetof(PGnotify, be_pid));
SAME(offsetof(struct runnel_pq_notification, payload), offsetof(PGnotify, extra));

// These records have names of their own here; their layouts are compared above.
#define runnel_pq_option _PQconninfoOption
#define runnel_pq_notification pgNotify
#define SAME_FUNCTION(result, name, arguments) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&name), result(*) arguments), #name);
RUNNEL_PQ_FUNCTIONS(SAME_FUNCTION)

int runnel_pq_is_compared(void) { return 1; }

#else

int runnel_pq_is_compared(void) { return 0; }

#endif
