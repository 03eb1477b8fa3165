import Foundation
import Testing

@testable import RunnelApp

/// Lines are added to a log, and to no other file.
@Suite struct LogFileTests {
  private let file = NSTemporaryDirectory() + "runnel-log-\(UUID().uuidString)"

  private func reason(_ content: String) throws -> String? {
    try Data(content.utf8).write(to: URL(fileURLWithPath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    return LogFile.reasonNotAdded(to: file)
  }

  @Test func aLogGoesOn() throws {
    #expect(LogFile.reasonNotAdded(to: file) == nil)
    #expect(LogFile.reasonNotAdded(to: "/dev/null") == nil)
    #expect(try reason("") == nil)
    for level in ["trace", "info", "warning", "critical"] {
      #expect(try reason("2026-11-29T09:05:07Z \(level) runnel.workspace: opened\n") == nil)
    }
  }

  @Test func whatIsWrittenIsALog() {
    for milliseconds: Int64 in [0, Fixture.now, Fixture.now + 1000 * Fixture.day] {
      #expect(FileLogHandler.isLine(FileLogHandler.start(at: milliseconds, level: "info") + "x: y"))
    }
  }

  @Test(arguments: [
    "views:\n  - name: Chat\n", "{}", "2026-11-29T09:05:07Z", "2026-11-29T09:05:07Z hello there",
    "2026-11-29 09:05:07 info x: y", "\u{0}\u{1}", "\n",
  ])
  func anotherFileIsRefused(content: String) throws {
    #expect(try reason(content)?.contains("not a log of runnel") == true)
  }
}
