import RunnelBase

/// A value of the demo's texts, with its place in the file.
struct DemoTextsReader {
  let json: JSONValue
  /// The place, such as `groups[0].scripts[3]`; empty at the top.
  let place: String

  init(_ json: JSONValue, at place: String = "") {
    self.json = json
    self.place = place
  }

  /// Makes an error at this place.
  func error(_ message: String) -> DemoTextsError {
    DemoTextsError(place.isEmpty ? "The demo's texts" : place, message)
  }

  /// The members of an object, in their order.
  func members() throws(DemoTextsError) -> [(String, DemoTextsReader)] {
    guard case .object(let members) = json else { throw error("this is no object") }
    return members.map { ($0.name, DemoTextsReader($0.value, at: inside($0.name))) }
  }

  /// Throws if the object has other members than these.
  func expect(only names: [String]) throws(DemoTextsError) {
    for (name, _) in try members() where !names.contains(name) {
      throw error("'\(name)' is not known; known are \(names.joined(separator: ", "))")
    }
  }

  /// A required member.
  func member(_ name: String) throws(DemoTextsError) -> DemoTextsReader {
    guard let value = json[name] else { throw error("'\(name)' is missing") }
    return DemoTextsReader(value, at: inside(name))
  }

  /// An optional member.
  func optional(_ name: String) -> DemoTextsReader? {
    json[name].map { DemoTextsReader($0, at: inside(name)) }
  }

  /// The elements of an array.
  func elements() throws(DemoTextsError) -> [DemoTextsReader] {
    guard case .array(let values) = json else { throw error("this is no array") }
    return values.enumerated().map { DemoTextsReader($1, at: "\(place)[\($0)]") }
  }

  /// The elements of a required array.
  func elements(_ name: String) throws(DemoTextsError) -> [DemoTextsReader] {
    try member(name).elements()
  }

  /// A text that is not empty.
  func string() throws(DemoTextsError) -> String {
    guard case .string(let text) = json, !text.isEmpty else { throw error("this is no text") }
    return text
  }

  /// The texts of an array.
  func strings() throws(DemoTextsError) -> [String] {
    try elements().mapped { (element) throws(DemoTextsError) in try element.string() }
  }

  /// A whole number within limits.
  func integer(_ range: ClosedRange<Int>) throws(DemoTextsError) -> Int {
    guard case .number(let number) = json, let value = number.integer,
      let integer = Int(exactly: value), range ~= integer
    else {
      throw error("this is no whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }

  /// A number from 0 to 1.
  func share() throws(DemoTextsError) -> Double {
    guard case .number(let number) = json, 0...1 ~= number.double else {
      throw error("this is no number from 0 to 1")
    }
    return number.double
  }

  /// `true` or `false`.
  func bool() throws(DemoTextsError) -> Bool {
    guard case .bool(let value) = json else { throw error("this is neither true nor false") }
    return value
  }

  private func inside(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }
}

extension Array {
  /// The results of a function that may throw for an element.
  func mapped<Result>(
    _ transform: (Element) throws(DemoTextsError) -> Result
  ) throws(DemoTextsError) -> [Result] {
    var results: [Result] = []
    results.reserveCapacity(count)
    for element in self { results.append(try transform(element)) }
    return results
  }
}
