import ArgumentParser
import RunnelBase

/// The value that a command writes: given in the command line, or read from standard input.
struct DataArgument: ParsableArguments {
  /// Where the value comes from.
  enum Source {
    case json(JSONValue)
    case standardInput
  }

  @Argument(
    help: "The value in JSON, or - for standard input, which is read if there is none.",
    transform: DataArgument.source)
  var data: Source?

  /// The value.
  ///
  /// - Throws: `Failure` if standard input cannot be read or is not JSON.
  func json() throws -> JSONValue {
    switch data {
    case .json(let value): return value
    case .standardInput, nil: break
    }
    if StandardInput.isTerminal {
      StandardError.say("Reading JSON from the terminal; Ctrl-D on an empty line ends it.")
    }
    let bytes = try StandardInput.readAll()
    do throws(JSONError) {
      return try JSONValue(parsing: bytes)
    } catch {
      throw Failure("Standard input is not JSON: \(error).")
    }
  }

  private static func source(_ text: String) throws -> Source {
    if text == InputDocument.standardInputName { return .standardInput }
    return .json(try CommandLineJSON.value(text))
  }
}

/// How JSON is read from the command line, where the shell takes away quotes.
enum CommandLineJSON {
  /// Reads a value.
  ///
  /// - Throws: `ValidationError` that says what is wrong, and how a string is written.
  static func value(_ text: String) throws -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(parsing: text)
    } catch {
      throw ValidationError("it is not JSON (\(error)).\(advice(for: text))")
    }
  }

  /// How to write what was probably meant as a string; empty if it was probably not.
  static func advice(for text: String) -> String {
    let isOneString = !text.contains { "\"{}[]'\\,".contains($0) || $0.isNewline }
    return isOneString ? " A string stands in quotes, within those of the shell: '\"\(text)\"'" : ""
  }
}
