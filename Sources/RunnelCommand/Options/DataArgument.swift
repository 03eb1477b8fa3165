import ArgumentParser
import RunnelBase

/// The value that a command writes: an argument, or JSON on standard input.
struct DataArgument: ParsableArguments {
  /// The source of the value.
  enum Source {
    /// A value, with what is said about what of it is not kept as it is written.
    case json(JSONValue, remark: String?)
    case standardInput
  }

  @Argument(
    help: "The value in JSON; - or no value reads standard input.",
    transform: DataArgument.source)
  var data: Source?

  /// Returns the value; standard error tells of numbers that are not kept as they are written, and of members
  /// that a later one hides.
  ///
  /// - Parameter empty: the value if none is given and standard input is empty; nil if that is an error.
  /// - Returns: the value.
  /// - Throws: `Failure` if standard input cannot be read or is not JSON.
  func json(ifEmpty empty: JSONValue? = nil) throws -> JSONValue {
    let json = try given(ifEmpty: empty)
    if let lost = DataArgument.lostMember(in: json) {
      throw Failure(
        "\"\(lost)\" stands beside \".sv\", whose value replaces the whole object: it would be lost. Nothing "
          + "was written: give \".sv\" an object of its own.", status: .usage)
    }
    return json
  }

  /// Returns the name of a member that a server value beside it would replace, or nil if there is
  /// none.
  static func lostMember(in json: JSONValue) -> String? {
    switch json {
    case .null, .bool, .number, .string: return nil
    case .array(let elements): return elements.lazy.compactMap { lostMember(in: $0) }.first
    case .object(let members):
      if members.contains(where: { $0.name == ".sv" }) {
        return members.first { ![".sv", ".priority"].contains($0.name) }?.name
      }
      return members.lazy.compactMap { lostMember(in: $0.value) }.first
    }
  }

  /// Whether no value is given, nor `-` for standard input.
  private var isOmitted: Bool { if case nil = data { true } else { false } }

  private func given(ifEmpty empty: JSONValue?) throws -> JSONValue {
    switch data {
    case .json(let value, let remark):
      if let remark { StandardError.say(remark) }
      return value
    case .standardInput, nil: break
    }
    if StandardInput.isTerminal {
      StandardError.say("Reading JSON from the terminal; Ctrl-D on an empty line ends it.")
    }
    let bytes = try StandardInput.readAll(.json)
    if let empty, isOmitted, bytes.isEmpty { return empty }
    do throws(JSONError) {
      let json = try JSONValue(parsing: bytes)
      if let remark = DataArgument.remark(on: bytes) { StandardError.say(remark) }
      return json
    } catch {
      throw Failure("Standard input is not JSON: \(error).")
    }
  }

  static func source(_ text: String) throws -> Source {
    if text == InputDocument.standardInputName { return .standardInput }
    return .json(try CommandLineJSON.value(text), remark: remark(on: Array(text.utf8)))
  }

  /// What is said about a document that was parsed; nil if all of it is kept as it is written.
  private static func remark(on bytes: [UInt8]) -> String? {
    bytes.withUnsafeBufferPointer { bytes in
      let sentences = [RoundedNumbers(in: bytes).sentence, RepeatedMembers(in: bytes).sentence]
      let said = sentences.compactMap(\.self)
      return said.isEmpty ? nil : said.joined(separator: " ")
    }
  }
}

/// Reads JSON from the command line, where the shell removes quotes.
enum CommandLineJSON {
  /// Reads a value.
  ///
  /// - Throws: `ValidationError` with the mistake, and how to write a string.
  static func value(_ text: String) throws -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(parsing: text)
    } catch {
      throw ValidationError("it is not JSON (\(error)).\(advice(for: text))")
    }
  }

  /// Advice if the text was probably meant as a string; empty if not.
  static func advice(for text: String) -> String {
    let isOneString = !text.contains { "\"{}[]'\\,".contains($0) || $0.isNewline }
    return isOneString ? " Put a string in quotes, inside those of the shell: '\"\(text)\"'" : ""
  }
}
