import Foundation
import Glibc
import RunnelDatabase
import RunnelTree
import Testing

/// The programs of `Tests/Samples`, run as by a user.
@Suite(.timeLimit(.minutes(5))) struct SampleTests {
  private static let samples = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../Samples").standardizedFileURL

  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "runnel-samples-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// The programs are built beside `runnel`.
  private func program(_ name: String) throws -> String { try Program.folder() + name }

  private func lines(of sample: String) throws -> Int {
    let file = Self.samples.appendingPathComponent(sample + "/main.swift")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .count { !$0.hasPrefix("//") }
  }

  @Test func theFirstHourIsTheSameInFewerLines() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let here = try Program.run([folder + "/a.db"], program: program("sample-first-hour"))
    #expect(here.errors == "" && here.status == 0)
    let there = try Program.run([folder + "/b.db"], program: program("sample-first-hour-grdb"))
    #expect(there.errors == "" && there.status == 0)
    #expect(
      here.output.split(separator: "\n") == [
        "p29 p28 p27", "p29 p28 p27 p26 p25 p24", "new p29 p28 p27 p26 p25 p24",
      ])
    #expect(here.output == there.output)
    #expect(try lines(of: "FirstHour") <= 20)
    #expect(try lines(of: "FirstHour") < lines(of: "FirstHourGRDB"))
  }

  @Test func aKilledProcessIsNoLongerOnlineForTheOthers() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/presence.db"
    let database = try await Database.open(file: file)
    let online = try database.reference(withPath: "online")
    let names = { (snapshot: DataSnapshot) in snapshot.children.compactMap(\.key) }
    var states = online.values.makeAsyncIterator()
    func wait(for wanted: [String]) async throws {
      while let state = try await states.next() { if names(state) == wanted { return } }
    }
    let ana = try RunningProgram([file, "ana"], program: program("sample-presence"))
    let bo = try RunningProgram([file, "bo"], program: program("sample-presence"))
    try await wait(for: ["ana", "bo"])
    kill(ana.processID, SIGKILL)
    #expect(try ana.wait() == -SIGKILL)
    try await wait(for: ["bo"])
    kill(bo.processID, SIGTERM)
    #expect(try bo.wait() == -SIGTERM)
    try await wait(for: [])
    database.close()
  }

  /// The pages show the same line of the manifest as the sample package.
  @Test func theSamplePackageNamesTheLibraryAsThePagesDo() throws {
    let package = try String(
      contentsOf: Self.samples.appendingPathComponent("Package.swift"), encoding: .utf8)
    let line = #".product(name: "Runnel", package: "runnel")"#
    #expect(package.contains(line))
    for page in ["README.md", "Resources/docs/library.md", "Sources/Runnel/Runnel.docc/Runnel.md"] {
      let text = try String(
        contentsOf: Self.samples.appendingPathComponent("../../" + page), encoding: .utf8)
      #expect(text.contains(line), "\(page)")
    }
  }
}
