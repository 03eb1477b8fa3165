import RunnelBase
import Synchronization
import Testing

@testable import RunnelServer

@Suite struct LogLinesTests {
  private final class Reader: Sendable {
    let lines = Mutex<[String]>([])
  }

  @Test func allLinesAreWrittenAtTheEnd() throws {
    let reader = Reader()
    let log = try LogLines { line in
      reader.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    for number in 0..<100 { log.add([JSONMember("n", .number(JSONNumber(Int64(number))))]) }
    log.flush()
    #expect(reader.lines.withLock { $0.count } == 100)
    #expect(reader.lines.withLock { $0.last } == "{\"n\":99}\n")
  }

  /// A server must end that writes to a pipe whose reader is stuck.
  @Test func theEndDoesNotWaitForAReaderThatIsStuck() throws {
    let reader = Reader()
    let log = try LogLines { line in
      reader.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    // Whoever holds the lock does not read.
    reader.lines.withLock { lines in
      log.add([JSONMember("n", 1)])
      log.flush(withinMilliseconds: 10)
      #expect(lines.isEmpty)
    }
    log.flush()
    #expect(reader.lines.withLock { $0 } == ["{\"n\":1}\n"])
  }
}
