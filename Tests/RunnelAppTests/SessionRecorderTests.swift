import Foundation
import Glibc
import RunnelStore
import RunnelTerminal
import Testing

@testable import RunnelApp

/// A session is recorded by a thread of its own.
@Suite struct SessionRecorderTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func linesAreWrittenInOrder() throws {
    let recorder = try SessionRecorder(file: folder.file("s.log"))
    let lines = (0..<1000).map { "line \($0)" }
    for line in lines { recorder.append(line) }
    #expect(recorder.end() == nil)
    let text = try folder.text("s.log")
    #expect(text == ([ActionLog.firstLine] + lines).joined(separator: "\n") + "\n")
  }

  /// The reader of a pipe is as slow as a disk can be.
  @Test func aSlowDiskHoldsNobodyUpAndLosesNothing() throws {
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    let reader = open(folder.file("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(reader >= 0)
    defer { close(reader) }
    let recorder = try SessionRecorder(file: folder.file("pipe"))
    // More than a pipe holds.
    let line = String(repeating: "x", count: 1000)
    for number in 0..<300 { recorder.append("\(number) \(line)") }
    #expect(recorder.end(within: .zero)?.contains("the end of the session is not recorded") == true)
    var read: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let end = ([ActionLog.firstLine] + (0..<300).map { "\($0) \(line)" }).joined(separator: "\n")
    while read.count < end.utf8.count + 1 {
      _ = Poller.wait([reader], timeoutMilliseconds: nil)
      let count = Glibc.read(reader, &piece, piece.count)
      if count < 0, errno == EAGAIN { continue }
      try #require(count > 0)
      read += piece[..<count]
    }
    #expect(String(decoding: read, as: UTF8.self) == end + "\n")
    #expect(recorder.end() == nil)
    #expect(recorder.takeFailure() == nil)
  }

  @Test func theQueueHasABound() throws {
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    let reader = open(folder.file("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(reader >= 0)
    defer { close(reader) }
    let recorder = try SessionRecorder(file: folder.file("pipe"))
    let line = String(repeating: "x", count: 1 << 20)
    for _ in 0..<20 { recorder.append(line) }
    #expect(recorder.takeFailure()?.contains("the disk is too slow") == true)
    #expect(recorder.takeFailure() == nil)
    // What was queued before is written.
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    var count = 0
    while recorder.end(within: .zero) != nil {
      _ = Poller.wait([reader], timeoutMilliseconds: 10)
      count += max(Glibc.read(reader, &piece, piece.count), 0)
    }
    while case let more = Glibc.read(reader, &piece, piece.count), more > 0 { count += more }
    #expect(count > 15 << 20)
  }

  @Test func aFullDiskIsToldOnce() throws {
    let news = try Wakeup()
    let recorder = try SessionRecorder(file: "/dev/full") { news.signal() }
    _ = Poller.wait([news.fileDescriptor], timeoutMilliseconds: nil)
    let failure = try #require(recorder.takeFailure())
    #expect(failure.hasPrefix("/dev/full: "))
    #expect(failure.hasSuffix("; the session is recorded no further"))
    recorder.append("more")
    #expect(recorder.takeFailure() == nil)
    #expect(recorder.end() == nil)
  }

  @Test func aFileThatCannotBeMadeIsAnError() throws {
    #expect(throws: (any Error).self) { try SessionRecorder(file: folder.file("none/s.log")) }
  }
}
