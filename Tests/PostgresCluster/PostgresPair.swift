import Foundation
import Glibc

/// A primary of PostgreSQL with a standby, in a folder of their own, for one test.
///
/// Both end with the process of the tests, however that ends. They outlive kills of their processes, but
/// not of the machine: nothing is forced to the disk.
package final class PostgresPair {
  /// Which of the two.
  package enum Member: String {
    case primary = "a"
    case standby = "b"
  }

  private static let primaryPort = 5432
  private static let standbyPort = 5433

  private let folder: String
  private let life: Int32

  /// Starts both; the standby follows asynchronously.
  package init() throws {
    folder = "/tmp/runnel-pair-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    let programs = try PostgresCluster.installedPrograms()
    let other = PostgresCluster.otherUser
    let settings =
      "-c listen_addresses= -c unix_socket_directories='\(folder)' -c max_connections=60 "
      + "-c fsync=off -c full_page_writes=off "
      // A question to the standby is answered also if the primary vacuums meanwhile.
      + "-c max_standby_streaming_delay=-1 -c max_standby_archive_delay=-1"
    let script = """
      trap '' INT TERM HUP
      cd '\(folder)' || exit 1
      wait_for() {
        tries=0
        until '\(programs)/pg_isready' -q -h '\(folder)' -p $1; do
          tries=$((tries + 1))
          [ $tries -lt 600 ] || { echo failed >state; return; }
          sleep 0.05
        done
      }
      \(other) '\(programs)/initdb' -D a -U runnel -A trust --no-locale -E UTF8 --no-sync \
        >initdb.log 2>&1 </dev/null
      \(other) '\(programs)/postgres' -D a -p \(PostgresPair.primaryPort) \(settings) \
        >log 2>&1 </dev/null &
      wait_for \(PostgresPair.primaryPort)
      \(other) '\(programs)/pg_basebackup' -h '\(folder)' -p \(PostgresPair.primaryPort) -U runnel \
        -D b -R -X stream -c fast >>log 2>&1 </dev/null
      echo "primary_conninfo='host=\(folder) port=\(PostgresPair.primaryPort) user=runnel application_name=b'" \
        >>b/postgresql.auto.conf
      \(other) '\(programs)/postgres' -D b -p \(PostgresPair.standbyPort) \(settings) \
        >log.b 2>&1 </dev/null &
      wait_for \(PostgresPair.standbyPort)
      [ -e state ] || { echo started >state.new; mv state.new state; }
      cat >/dev/null
      for member in a b; do
        pid=$(head -n 1 $member/postmaster.pid 2>/dev/null) && kill -CONT $pid && kill -QUIT $pid
      done 2>/dev/null
      wait
      cd /
      rm -rf '\(folder)'
      """
    life = try PostgresCluster.start(script, in: folder)
    try PostgresCluster.waitUntilStarted(folder)
  }

  deinit { close(life) }

  /// The connection string: whichever of the two takes writes.
  package var place: String {
    "host=\(folder),\(folder) port=\(PostgresPair.primaryPort),\(PostgresPair.standbyPort) "
      + "user=runnel dbname=postgres"
  }

  private func place(of member: Member) -> String {
    let port = member == .primary ? PostgresPair.primaryPort : PostgresPair.standbyPort
    return "host=\(folder) port=\(port) user=runnel dbname=postgres"
  }

  /// Makes commits wait for the standby, or not.
  package func setSynchronous(_ isSynchronous: Bool) throws {
    let names = isSynchronous ? "b" : ""
    let place = place(of: .primary)
    try PostgresCluster.psql("ALTER SYSTEM SET synchronous_standby_names = '\(names)'", place)
    try PostgresCluster.psql("SELECT pg_reload_conf()", place)
    if !isSynchronous { return }
    let end = ContinuousClock.now + .seconds(30)
    let question = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
    while try PostgresCluster.psql(question, place) != "1" {
      if ContinuousClock.now >= end {
        throw PostgresCluster.Failure(description: "The standby did not become synchronous.")
      }
    }
  }

  /// Stops the process of the standby that receives the log, so that nothing more comes there.
  package func holdStandby() throws {
    let text = try PostgresCluster.psql("SELECT pid FROM pg_stat_wal_receiver", place(of: .standby))
    guard let process = pid_t(text), kill(process, SIGSTOP) == 0 else {
      throw PostgresCluster.Failure(description: "There is no receiver: '\(text)'")
    }
    held = process
  }

  private var held: pid_t?

  /// Lets it go on.
  package func releaseStandby() {
    if let held { kill(held, SIGCONT) }
    held = nil
  }

  /// Kills the process that was held, with what it has not read yet, after the primary; the standby
  /// starts its processes again.
  package func dropHeldLog() throws {
    guard let process = held else { return }
    kill(process, SIGKILL)
    held = nil
    // It is gone when its number is.
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if kill(process, 0) != 0, let text = try? run(sql: "SELECT 1", on: .standby), text == "1" {
        return
      }
    }
    throw PostgresCluster.Failure(description: "The standby did not start again.")
  }

  /// Kills the primary and all its processes, as if the machine had lost power.
  package func killPrimary() throws {
    for process in try primaryProcesses() { kill(process, SIGKILL) }
  }

  /// Stops the primary and all its processes: its port is open, and nothing answers.
  package func freezePrimary() throws {
    for process in try primaryProcesses() { kill(process, SIGSTOP) }
  }

  /// Lets the primary go on.
  package func thawPrimary() {
    for process in (try? primaryProcesses()) ?? [] { kill(process, SIGCONT) }
  }

  /// The processes of the primary; the first one, the last in the list, is stopped, so that it starts no more.
  private func primaryProcesses() throws -> [pid_t] {
    let text = try String(contentsOfFile: folder + "/a/postmaster.pid", encoding: .utf8)
    guard let master = text.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw PostgresCluster.Failure(description: "The primary does not run.")
    }
    kill(master, SIGSTOP)
    let path = "/proc/\(master)/task/\(master)/children"
    let children = try String(contentsOfFile: path, encoding: .utf8)
    return children.split(separator: " ").compactMap { pid_t($0) } + [master]
  }

  /// Makes the standby the primary; returns when it takes writes.
  package func promote() throws {
    let place = place(of: .standby)
    // A question that waited for the promotion would hold up what the log has still to remove.
    try PostgresCluster.psql("SELECT pg_promote(false)", place)
    let end = ContinuousClock.now + .seconds(60)
    while try PostgresCluster.psql("SELECT pg_is_in_recovery()", place) != "f" {
      if ContinuousClock.now >= end {
        throw PostgresCluster.Failure(description: "The standby was not promoted.")
      }
    }
  }

  /// Runs a statement on the member; returns the first value.
  @discardableResult
  package func run(sql: String, on member: Member = .primary) throws -> String {
    try PostgresCluster.psql(sql, place(of: member))
  }
}
