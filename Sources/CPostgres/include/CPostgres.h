// The functions of libpq, the client library of PostgreSQL, which is loaded when it is first needed.
//
// Linked, it would bring some twenty libraries into every start of the program, and no program would
// start where it is missing. So its opaque types and its functions are declared here, and no build
// needs its headers: a test compares these declarations with the headers where they are installed.
#ifndef RUNNEL_CPOSTGRES_H
#define RUNNEL_CPOSTGRES_H

#include <stddef.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;

/// Called with each notice of the server: a warning, or a remark.
typedef void (*runnel_pq_notice_receiver)(void *context, const PGresult *notice);

/// One parameter of a connection: PQconninfoOption.
struct runnel_pq_option {
  char *keyword;
  char *environment;
  char *built_in;
  char *value;
  char *label;
  char *display_kind;
  int display_size;
};

/// A notification: PGnotify.
struct runnel_pq_notification {
  char *channel;
  int process;
  char *payload;
  struct runnel_pq_notification *next;
};

/// Values of ConnStatusType.
enum { RUNNEL_PQ_CONNECTION_OK = 0, RUNNEL_PQ_CONNECTION_BAD = 1 };

/// Values of PostgresPollingStatusType.
enum {
  RUNNEL_PQ_POLLING_FAILED = 0,
  RUNNEL_PQ_POLLING_READING = 1,
  RUNNEL_PQ_POLLING_WRITING = 2,
  RUNNEL_PQ_POLLING_OK = 3
};

/// Values of ExecStatusType.
enum {
  RUNNEL_PQ_COMMAND_OK = 1,
  RUNNEL_PQ_TUPLES_OK = 2,
  RUNNEL_PQ_FATAL_ERROR = 7,
  RUNNEL_PQ_PIPELINE_SYNC = 10,
  RUNNEL_PQ_PIPELINE_ABORTED = 11
};

/// Values of PGVerbosity.
enum { RUNNEL_PQ_VERBOSE = 2 };

/// Fields of a message.
enum { RUNNEL_PQ_SQLSTATE = 'C', RUNNEL_PQ_PRIMARY = 'M', RUNNEL_PQ_DETAIL = 'D' };

/// The functions: what they return, their names, and what they take.
#define RUNNEL_PQ_FUNCTIONS(FUNCTION)                                                             \
  FUNCTION(PGconn *, PQconnectStartParams, (const char *const *, const char *const *, int))       \
  FUNCTION(unsigned, PQconnectPoll, (PGconn *))                                                   \
  FUNCTION(void, PQfinish, (PGconn *))                                                            \
  FUNCTION(struct runnel_pq_option *, PQconninfo, (PGconn *))                                     \
  FUNCTION(struct runnel_pq_option *, PQconninfoParse, (const char *, char **))                   \
  FUNCTION(void, PQconninfoFree, (struct runnel_pq_option *))                                     \
  FUNCTION(unsigned, PQstatus, (const PGconn *))                                                  \
  FUNCTION(int, PQsocket, (const PGconn *))                                                       \
  FUNCTION(int, PQserverVersion, (const PGconn *))                                                \
  FUNCTION(char *, PQerrorMessage, (const PGconn *))                                              \
  FUNCTION(unsigned, PQsetErrorVerbosity, (PGconn *, unsigned))                                   \
  FUNCTION(char *, PQhost, (const PGconn *))                                                      \
  FUNCTION(char *, PQport, (const PGconn *))                                                      \
  FUNCTION(char *, PQdb, (const PGconn *))                                                        \
  FUNCTION(runnel_pq_notice_receiver, PQsetNoticeReceiver,                                        \
           (PGconn *, runnel_pq_notice_receiver, void *))                                         \
  FUNCTION(PGcancel *, PQgetCancel, (PGconn *))                                                   \
  FUNCTION(void, PQfreeCancel, (PGcancel *))                                                      \
  FUNCTION(int, PQcancel, (PGcancel *, char *, int))                                              \
  FUNCTION(int, PQsetnonblocking, (PGconn *, int))                                                \
  FUNCTION(int, PQenterPipelineMode, (PGconn *))                                                  \
  FUNCTION(int, PQpipelineSync, (PGconn *))                                                       \
  FUNCTION(int, PQsendPrepare,                                                                    \
           (PGconn *, const char *, const char *, int, const unsigned *))                         \
  FUNCTION(int, PQsendQueryPrepared,                                                              \
           (PGconn *, const char *, int, const char *const *, const int *, const int *, int))     \
  FUNCTION(int, PQflush, (PGconn *))                                                              \
  FUNCTION(int, PQconsumeInput, (PGconn *))                                                       \
  FUNCTION(int, PQisBusy, (PGconn *))                                                             \
  FUNCTION(PGresult *, PQgetResult, (PGconn *))                                                   \
  FUNCTION(void, PQclear, (PGresult *))                                                           \
  FUNCTION(unsigned, PQresultStatus, (const PGresult *))                                          \
  FUNCTION(char *, PQresultErrorField, (const PGresult *, int))                                   \
  FUNCTION(int, PQntuples, (const PGresult *))                                                    \
  FUNCTION(int, PQgetisnull, (const PGresult *, int, int))                                        \
  FUNCTION(int, PQgetlength, (const PGresult *, int, int))                                        \
  FUNCTION(char *, PQgetvalue, (const PGresult *, int, int))                                      \
  FUNCTION(char *, PQcmdTuples, (PGresult *))                                                     \
  FUNCTION(struct runnel_pq_notification *, PQnotifies, (PGconn *))                               \
  FUNCTION(void, PQfreemem, (void *))

/// The loaded functions.
struct runnel_pq {
#define RUNNEL_PQ_FIELD(result, name, arguments) result(*name) arguments;
  RUNNEL_PQ_FUNCTIONS(RUNNEL_PQ_FIELD)
#undef RUNNEL_PQ_FIELD
};

/// Loads libpq, once; NULL if it is not installed, or lacks a function. Any thread may call it.
const struct runnel_pq *runnel_pq_load(void);

/// Asks a server to stop what a connection does, and frees the request; returns after `milliseconds` at the
/// latest.
///
/// PQcancel waits for the server to take the request, without end if its process hangs. So it runs on a thread
/// of its own, which goes on then. With many that go on, or without memory for a thread, nothing is asked.
/// Any thread may call it.
void runnel_pq_cancel(PGcancel *request, int milliseconds);

#endif
