import CPlatform
import Glibc

/// Runs other programs, with the signal mask that this process was started with.
enum ChildProcess {
  /// Runs a program that uses the terminal, and waits for its end.
  ///
  /// The screen must be suspended. A program that is stopped stops this process too.
  ///
  /// - Parameters:
  ///   - arguments: its name, looked up in PATH, and its arguments.
  ///   - terminal: the terminal to give it; nil for none.
  /// - Returns: its exit status; 128 plus the number of a signal that ended it; 127 if it does not
  ///   exist.
  /// - Throws: `TerminalError.systemCall` if no process can be started.
  static func run(_ arguments: [String], terminal: Int32?) throws(TerminalError) -> Int32 {
    let status = withArguments(arguments) { runnel_run_in_terminal($0, terminal ?? -1) }
    if status < 0 { throw .systemCall("fork", errno) }
    return status
  }

  /// Runs a program that reads its standard input, and waits for its end.
  ///
  /// - Returns: its exit status; 128 plus the number of a signal that ended it; 127 if it does not
  ///   exist; nil if it takes longer than the given time, or cannot be started.
  static func run(_ arguments: [String], input: [UInt8], milliseconds: Int32) -> Int32? {
    let status = withArguments(arguments) {
      runnel_run_with_input($0, input, input.count, milliseconds)
    }
    return status < 0 ? nil : status
  }

  private static func withArguments<Result>(
    _ arguments: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = arguments.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
    return pointers.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("there is the last one") }
      return body(start)
    }
  }
}
