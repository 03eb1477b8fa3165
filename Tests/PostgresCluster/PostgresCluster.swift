import Foundation
import Glibc
import Synchronization

/// A cluster of PostgreSQL in a folder of its own, for the tests of one process.
///
/// It is started when it is first needed, by another user if the tests run as root, which PostgreSQL
/// refuses. It ends with the process, however that ends. Nothing is written durably, unless asked
/// for.
package final class PostgresCluster: Sendable {
  /// A cluster could not be made.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// The folder of the server's programs; nil where PostgreSQL is not installed.
  private static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
      .compactMap { Int($0) }.sorted(by: >)
    let found = versions.map { "\(root)/\($0)/bin" }.first { access($0 + "/initdb", X_OK) == 0 }
    return found
  }()

  /// True if PostgreSQL is installed, so that tests can start clusters.
  package static let isInstalled = programs != nil

  /// What a test says that is skipped.
  package static let advice = "PostgreSQL is not installed: apt-get install postgresql"

  private static let common = Mutex<PostgresCluster?>(nil)

  /// The cluster of this process.
  package static func shared() throws -> PostgresCluster {
    try common.withLock { common in
      if let common { return common }
      let made = try PostgresCluster()
      common = made
      return made
    }
  }

  /// The folder with the data and the socket.
  package let folder: String
  /// The port, which names the socket; no address is listened on.
  package let port: Int
  private let shell: pid_t
  private let life: Int32
  private let databaseCount = Mutex(0)

  /// Starts a cluster.
  package init(isDurable: Bool = false) throws {
    guard let programs = PostgresCluster.programs else {
      throw Failure(description: PostgresCluster.advice)
    }
    folder = "/tmp/runnel-postgres-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    port = 5432
    guard mkdir(folder, 0o755) == 0 else { throw Failure(description: "\(folder): \(errno)") }
    let isRoot = getuid() == 0
    if isRoot, let user = getpwnam("postgres") {
      _ = chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
    }
    let other =
      isRoot ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""
    let settings = isDurable ? "" : "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
    // The shell ends the cluster and removes the folder when its standard input ends: with the process
    // of the tests.
    let script = """
      trap '' INT TERM HUP
      cd '\(folder)' || exit 1
      \(other) '\(programs)/initdb' -D data -U runnel -A trust --no-locale -E UTF8 --no-sync \
        >initdb.log 2>&1 </dev/null || { echo failed >state; exit 1; }
      \(other) '\(programs)/postgres' -D data -p \(port) -c listen_addresses= \
        -c unix_socket_directories='\(folder)' -c max_connections=60 \(settings) \
        >log 2>&1 </dev/null &
      server=$!
      tries=0
      until '\(programs)/pg_isready' -q -h '\(folder)' -p \(port); do
        tries=$((tries + 1))
        [ $tries -lt 600 ] && kill -0 $server 2>/dev/null || { echo failed >state; break; }
        sleep 0.05
      done
      [ -e state ] || { echo started >state.new; mv state.new state; }
      cat >/dev/null
      kill -QUIT $server 2>/dev/null
      wait $server
      cd /
      rm -rf '\(folder)'
      """
    (shell, life) = try PostgresCluster.start(script)
    try waitUntilStarted()
  }

  deinit { close(life) }

  private static func start(_ script: String) throws -> (pid_t, Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failure(description: "no pipe: \(errno)") }
    defer { close(ends[0]) }
    // No other child keeps the shell waiting.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var process = pid_t()
    let words = ["sh", "-c", script]
    let arguments = words.map { word in strdup(word) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let error = posix_spawn(&process, "/bin/sh", &actions, nil, arguments, environ)
    guard error == 0 else {
      close(ends[1])
      throw Failure(description: "no process: \(error)")
    }
    return (process, ends[1])
  }

  private func waitUntilStarted() throws {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      if let state = try? String(contentsOfFile: folder + "/state", encoding: .utf8) {
        if state.hasPrefix("started") { return }
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        throw Failure(description: "The cluster did not start: \(log.suffix(500))")
      }
      // A file is waited for, which tells nobody that it comes.
      usleep(10_000)
    }
    throw Failure(description: "The cluster did not start in time.")
  }

  /// The connection string of a new database.
  package func makeDatabase() throws -> String {
    let number = databaseCount.withLock { count in
      count += 1
      return count
    }
    let name = "test\(number)"
    try run("createdb", ["-h", folder, "-p", "\(port)", "-U", "runnel", name])
    return "host=\(folder) port=\(port) user=runnel dbname=\(name)"
  }

  /// Runs a statement in a database, as another program would.
  package func run(sql: String, in place: String) throws {
    try run("psql", ["-q", "-v", "ON_ERROR_STOP=1", "-d", place, "-c", sql])
  }

  private func run(_ program: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: (PostgresCluster.programs ?? "") + "/" + program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(program): \(String(decoding: text, as: UTF8.self))")
    }
  }
}
