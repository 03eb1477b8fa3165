// Compares the declarations of CPostgres with libpq's header, when it is compiled.
#ifndef RUNNEL_CPOSTGRES_HEADER_H
#define RUNNEL_CPOSTGRES_HEADER_H

/// 1 if they were compared, and are the same; 0 if the header is not installed.
int runnel_pq_is_compared(void);

#endif
