import Foundation
import Synchronization

/// Runs code on a thread that the file system treats as nobody's, whoever runs the tests.
enum Unprivileged {
  private typealias SetUser = @convention(c) (UInt32) -> Int32

  /// What `body` returned.
  ///
  /// Other threads keep their rights.
  static func run<Result: Sendable>(_ body: @escaping () throws -> Result) throws -> Result {
    // Linux keeps this right for each thread; Swift's Glibc module does not show the function.
    let symbol = dlsym(nil, "setfsuid")
    guard let symbol else { throw Unavailable() }
    let setUser = unsafeBitCast(symbol, to: SetUser.self)
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      _ = setUser(65534)
      result = Swift.Result { try body() }
      _ = setUser(0)
      done.signal()
    }
    thread.start()
    done.wait()
    guard let result else { throw Unavailable() }
    return try result.get()
  }

  struct Unavailable: Error {}
}
