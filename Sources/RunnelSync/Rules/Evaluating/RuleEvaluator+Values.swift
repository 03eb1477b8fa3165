import RunnelBase
import RunnelTree

// Equality, order, arithmetic, texts and parts of `auth`. Source: rules language, section 5.

extension RuleEvaluator {
  // MARK: Equality and order

  /// True if two values are of one kind and equal.
  mutating func isEqual(_ left: RuleValue, _ right: RuleValue) throws(RuleFault) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let a), .bool(let b)): return a == b
    case (.number(let a), .number(let b)): return a == b
    case (.string(let a), .string(let b)):
      if a.utf8.count != b.utf8.count { return false }
      try pay(bytes: a.utf8.count)
      return a.hasSameUnits(as: b)
    case (.json, .json), (.json, .object), (.object, .json), (.object, .object):
      return try isSameObject(left, right)
    default: return false
    }
  }

  /// True if two objects have the same contents; the order of members does not matter.
  private mutating func isSameObject(
    _ left: RuleValue, _ right: RuleValue
  ) throws(RuleFault) -> Bool {
    let one = try object(left).sortedByName
    let other = try object(right).sortedByName
    try pay(one.partCount + other.partCount)
    return one == other
  }

  private mutating func object(_ value: RuleValue) throws(RuleFault) -> JSONValue {
    switch value {
    case .json(let json): json
    case .object(let place): try subtree(place).json
    default: .null
    }
  }

  mutating func isOrdered(
    _ order: RuleOrder, _ left: RuleValue, _ right: RuleValue, _ step: RuleStep.Index
  ) throws(RuleFault) -> Bool {
    let isLess: Bool
    let isGreater: Bool
    switch (left, right) {
    case (.number(let a), .number(let b)): (isLess, isGreater) = (a < b, b < a)
    // NaN is neither before nor after anything, nor equal to it.
    case (.notANumber, .number), (.number, .notANumber), (.notANumber, .notANumber): return false
    case (.string(let a), .string(let b)):
      try pay(bytes: min(a.utf8.count, b.utf8.count) * 2)
      (isLess, isGreater) = (a.isOrderedBefore(b), b.isOrderedBefore(a))
    case (.null, .null): (isLess, isGreater) = (false, false)
    default: throw .wrongKind(step)
    }
    switch order {
    case .less: return isLess
    case .notGreater: return !isGreater
    case .greater: return isGreater
    case .notLess: return !isLess
    }
  }

  // MARK: Arithmetic

  func negated(_ value: RuleValue, _ step: RuleStep.Index) throws(RuleFault) -> RuleValue {
    switch value {
    case .number(let number):
      if let integer = number.integer, integer != .min { return .number(JSONNumber(-integer)) }
      return RuleValue(finite: -number.double)
    case .notANumber: return .notANumber
    default: throw .wrongKind(step)
    }
  }

  mutating func sum(
    _ left: RuleValue, _ right: RuleValue, _ step: RuleStep.Index
  ) throws(RuleFault) -> RuleValue {
    switch (left, right) {
    case (.number(let a), .number(let b)):
      if let a = a.integer, let b = b.integer {
        let (sum, overflows) = a.addingReportingOverflow(b)
        if !overflows { return .number(JSONNumber(sum)) }
      }
      return RuleValue(finite: a.double + b.double)
    case (.notANumber, .number), (.number, .notANumber), (.notANumber, .notANumber):
      return .notANumber
    default: break
    }
    guard let a = text(left), let b = text(right) else { throw .wrongKind(step) }
    let count = a.utf8.count + b.utf8.count
    if count > TreeLimits.stringBytesMax { throw .tooLong(step) }
    try pay(bytes: count)
    return .string(a + b)
  }

  /// The text of a value in a concatenation; nil if it is neither a text nor a number.
  private func text(_ value: RuleValue) -> String? {
    switch value {
    case .string(let text): text
    case .number(let number): JSONValue.number(number).jsonText()
    case .notANumber: "NaN"
    default: nil
    }
  }

  func result(
    _ operation: RuleArithmetic, _ left: RuleValue, _ right: RuleValue, _ step: RuleStep.Index
  ) throws(RuleFault) -> RuleValue {
    switch (left, right) {
    case (.number(let a), .number(let b)):
      if let a = a.integer, let b = b.integer, let exact = operation.exact(a, b) {
        return .number(JSONNumber(exact))
      }
      return RuleValue(finite: operation.double(a.double, b.double))
    case (.notANumber, .number), (.number, .notANumber), (.notANumber, .notANumber):
      return .notANumber
    default: throw .wrongKind(step)
    }
  }

  // MARK: Texts

  /// The text of a step's value.
  ///
  /// - Throws: `RuleFault` of the step that uses it, if the value is no text.
  mutating func string(
    _ index: RuleStep.Index, for step: RuleStep.Index
  ) throws(RuleFault) -> String {
    guard case .string(let text) = try value(index) else { throw .wrongKind(step) }
    return text
  }

  mutating func length(_ text: String) throws(RuleFault) -> RuleValue {
    try pay(bytes: text.utf8.count)
    return .number(JSONNumber(Int64(text.utf16.count)))
  }

  mutating func contains(_ whole: String, _ part: String) throws(RuleFault) -> Bool {
    try pay(bytes: whole.utf8.count + part.utf8.count)
    return RuleTextSearch(part).isFound(in: whole)
  }

  mutating func hasPart(
    _ whole: String, _ part: String, isEnd: Bool
  ) throws(RuleFault) -> Bool {
    try pay(bytes: part.utf8.count)
    let count = part.utf8.count
    if whole.utf8.count < count { return false }
    let side = isEnd ? whole.utf8.suffix(count) : whole.utf8.prefix(count)
    return side.elementsEqual(part.utf8)
  }

  mutating func replaced(
    _ whole: String, _ part: String, _ new: String, _ step: RuleStep.Index
  ) throws(RuleFault) -> RuleValue {
    try pay(bytes: (whole.utf8.count + part.utf8.count) * 2)
    let search = RuleTextSearch(part)
    let places = search.places(in: whole)
    if places.isEmpty { return .string(whole) }
    let (growth, overflows) = places.count.multipliedReportingOverflow(by: new.utf8.count)
    if overflows || growth > TreeLimits.stringBytesMax { throw .tooLong(step) }
    let count = whole.utf8.count + growth - places.count * part.utf8.count
    if count > TreeLimits.stringBytesMax { throw .tooLong(step) }
    try pay(bytes: count)
    return .string(search.replacing(places, in: whole, with: new))
  }

  // MARK: Parts of auth

  /// A property of a part of `auth`.
  ///
  /// Source: rules language, section 4.5.
  func property(
    _ name: String, of value: RuleValue, _ step: RuleStep.Index
  ) throws(RuleFault) -> RuleValue {
    switch value {
    case .json(.object(let members)):
      return members.first { $0.name.hasSameUnits(as: name) }.map { RuleValue($0.value) } ?? .null
    case .json(.array(let elements)):
      guard let index = Int(name), String(index) == name, elements.indices.contains(index) else {
        return .null
      }
      return RuleValue(elements[index])
    case .string(let text) where name == "length":
      return .number(JSONNumber(Int64(text.utf16.count)))
    case .place, .object: throw .wrongKind(step)
    default: return .null
    }
  }

  func propertyName(_ value: RuleValue, _ step: RuleStep.Index) throws(RuleFault) -> String {
    guard let name = text(value) else { throw .wrongKind(step) }
    return name
  }
}

extension RuleArithmetic {
  /// The result if it is an integer without overflow on the way; else nil.
  fileprivate func exact(_ left: Int64, _ right: Int64) -> Int64? {
    let result: (partialValue: Int64, overflow: Bool)
    switch self {
    case .subtract: result = left.subtractingReportingOverflow(right)
    case .multiply: result = left.multipliedReportingOverflow(by: right)
    case .divide:
      result = left.dividedReportingOverflow(by: right)
      if result.overflow || result.partialValue &* right != left { return nil }
    case .remainder: result = left.remainderReportingOverflow(dividingBy: right)
    }
    return result.overflow ? nil : result.partialValue
  }

  /// The result in doubles; dividing by 0 gives NaN.
  fileprivate func double(_ left: Double, _ right: Double) -> Double {
    switch self {
    case .subtract: left - right
    case .multiply: left * right
    case .divide: right == 0 ? .nan : left / right
    case .remainder: left.truncatingRemainder(dividingBy: right)
    }
  }
}

extension JSONValue {
  /// The value with the members of all objects ordered by name, and with lists as objects, as the
  /// tree stores them.
  fileprivate var sortedByName: JSONValue {
    switch self {
    case .null, .bool, .number, .string: self
    case .array(let elements):
      JSONValue.object(
        elements.enumerated().map { JSONMember(String($0.offset), $0.element) }
      ).sortedByName
    case .object(let members):
      .object(
        members.filter { $0.value != .null }
          .map { JSONMember($0.name, $0.value.sortedByName) }
          .sorted { $0.name.isOrderedBefore($1.name) })
    }
  }

  /// The number of values in this value, itself included.
  fileprivate var partCount: Int {
    switch self {
    case .null, .bool, .number, .string: 1
    case .array(let elements): elements.reduce(1) { $0 + $1.partCount }
    case .object(let members): members.reduce(1) { $0 + $1.value.partCount }
    }
  }
}
