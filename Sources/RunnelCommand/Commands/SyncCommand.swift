import ArgumentParser
import Foundation
import Glibc
import RunnelApp
import RunnelBase
import RunnelClient
import RunnelDatabase

/// `runnel sync`: the local replicas of servers' databases, and transfers from and to the servers.
struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "List local replicas of servers' databases, send pending writes, download data.",
    subcommands: [
      SyncStatusCommand.self, SyncPullCommand.self, SyncPushCommand.self, SyncDropCommand.self,
    ])
}

/// `runnel sync status`: lists the replicas of the user.
struct SyncStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "List the replica files, one JSON object per line.",
    discussion: """
      "pending" is the number of your writes that the server has not confirmed: they are sent when the \
      database is opened again. Those by which the program tells who is here are not counted. "refused" is the \
      number of writes that the server refused and nobody has sent again or dropped: `runnel open` lists them \
      (S). "linked" is true while a program is connected to the server. "user" is the id of the user, "public" \
      for nobody. A file without pending and refused writes can be deleted while no program has it open.

      Example:
        runnel sync status | jq -r 'select(.pending > 0) | .origin'
      """)

  func run() throws {
    let folder = try ReplicaFolder.folder(ProcessInfo.processInfo.environment)
    for name in SyncStatusCommand.names(in: folder) {
      try StandardOutput.write(
        SyncStatusCommand.line(folder + "/" + name).jsonText() + "\n")
    }
  }

  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".db") { names.append(name) }
    }
    return names.sorted()
  }

  /// Returns the JSON object for a file: its facts, or the error if it cannot be read.
  private static func line(_ file: String) -> JSONValue {
    var status = stat()
    let size = stat(file, &status) == 0 ? Int64(status.st_size) : 0
    var members = [
      JSONMember("file", .string(file)), JSONMember("bytes", .number(JSONNumber(size))),
    ]
    do {
      let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
      let origin = try session.originName()
      let pending = Int64(try session.pendingWritesOfUser().count)
      let refused = try session.refusedWrites().count + RefusalFile(database: file).count
      try session.close()
      members.insert(
        JSONMember("origin", origin.map { .string(StoreGate.shown($0)) } ?? .null), at: 0)
      if let user = ReplicaFolder.user(ofFile: file) {
        members.append(JSONMember("user", .string(user)))
      }
      members.append(JSONMember("pending", .number(JSONNumber(pending))))
      members.append(JSONMember("refused", .number(JSONNumber(Int64(refused)))))
      members.append(JSONMember("linked", .bool(SpeakerLock.isConnected(database: file))))
    } catch {
      members.append(JSONMember("error", .string("\(error)")))
    }
    return .object(members)
  }
}
