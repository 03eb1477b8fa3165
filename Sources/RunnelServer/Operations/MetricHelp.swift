/// What the metrics are, by their names; serve.md has the same list.
enum MetricHelp {
  static let texts: [String: String] = [
    "runnel_backup_failures_total": "Backups of a database that failed.",
    "runnel_backups_total": "Backups of a database that were made.",
    "runnel_connections": "Open connections.",
    "runnel_denials_total": "Operations that the rules denied, by protocol.",
    "runnel_jobs_total": "Jobs that the thread of a database did: reads, writes and listens.",
    "runnel_limit_reached_total": "Refusals, delays and endings of connections by a limit.",
    "runnel_listens": "Listens of a database.",
    "runnel_redirects_total": "Clients that were sent to another server of a store.",
    "runnel_refused_total": "Refused credentials, hosts and databases.",
    "runnel_requests_total": "Answered requests over HTTP, by status.",
    "runnel_sessions_ended_total": "WebSockets that have ended.",
    "runnel_sessions_total": "WebSockets that were opened.",
    "runnel_storage_retries_total":
      "Transactions that were done anew, because the storage was out of reach.",
    "runnel_store_batches_total": "Transactions with writes to a store.",
    "runnel_store_doubts_total": "Commits of a store whose answers did not come.",
    "runnel_store_lag": "Changes of a store that clients were not told yet.",
    "runnel_store_leases": "Servers of a store whose leases hold.",
    "runnel_store_leases_lost_total": "Lost leases, at which all sessions end.",
    "runnel_store_silence_seconds": "Seconds in which the primary of a store has not answered.",
    "runnel_store_wakes_total": "Notifications to the other servers of a store.",
    "runnel_store_writes_total": "Writes to a store.",
    "runnel_transactions_total": "Transactions of a database.",
    "runnel_trial_denials_total": "Operations that rules on trial would deny.",
    "runnel_writable":
      "1 if a database can be written; 0 while its file is lost, or its disk takes no writes.",
  ]
}
