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
  private let life: Int32
  private let databaseCount = Mutex(0)

  /// Starts a cluster.
  package init(isDurable: Bool = false, connectionCount: Int = 60) throws {
    let programs = try PostgresCluster.installedPrograms()
    folder = "/tmp/runnel-postgres-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    port = 5432
    let other = PostgresCluster.otherUser
    let settings = isDurable ? "" : "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
    // The shell ends the cluster and removes the folder when its standard input ends: with the process
    // of the tests.
    let script = """
      trap '' INT TERM HUP
      cd '\(folder)' || exit 1
      \(other) '\(programs)/initdb' -D data -U runnel -A trust --no-locale -E UTF8 --no-sync \
        >initdb.log 2>&1 </dev/null || { echo failed >state; exit 1; }
      \(other) '\(programs)/postgres' -D data -p \(port) -c listen_addresses= \
        -c unix_socket_directories='\(folder)' -c max_connections=\(connectionCount) \(settings) \
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
    life = try PostgresCluster.start(script, in: folder)
    try PostgresCluster.waitUntilStarted(folder)
  }

  deinit { close(life) }

  /// The folder of the server's programs.
  static func installedPrograms() throws -> String {
    guard let programs else { throw Failure(description: advice) }
    return programs
  }

  /// What begins a command as the user of the clusters.
  static var otherUser: String {
    getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""
  }

  /// Makes a folder of the user of the clusters, and starts a shell that ends its work when the returned
  /// descriptor is closed.
  static func start(_ script: String, in folder: String) throws -> Int32 {
    guard mkdir(folder, 0o755) == 0 else { throw Failure(description: "\(folder): \(errno)") }
    if getuid() == 0, let user = getpwnam("postgres") {
      _ = chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
    }
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
    return ends[1]
  }

  /// Waits until the shell says in its folder that it has started.
  static func waitUntilStarted(_ folder: String) throws {
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
    try PostgresCluster.run("createdb", ["-h", folder, "-p", "\(port)", "-U", "runnel", name])
    return "host=\(folder) port=\(port) user=runnel dbname=\(name)"
  }

  /// Runs a statement in a database, as another program would.
  package func run(sql: String, in place: String) throws {
    try PostgresCluster.psql(sql, place)
  }

  /// Runs a statement as another program would; returns the first value.
  @discardableResult
  static func psql(_ sql: String, _ place: String) throws -> String {
    try run("psql", ["-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", place, "-c", sql])
  }

  @discardableResult
  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: (PostgresCluster.programs ?? "") + "/" + program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    // Both are short enough that one can be read after the other.
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    let text = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(program): \(String(decoding: text, as: UTF8.self))")
    }
    return String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
