/// The form of a label beyond ASCII in the names of hosts, without its prefix.
///
/// Source: RFC 3492.
package enum Punycode {
  /// What stands before the code of a label.
  package static let prefix = "xn--"
  /// The most bytes of a label in the name of a host, with the prefix.
  package static let labelBytesMax = 63

  private static let base = 36
  private static let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789".unicodeScalars)

  /// Returns the code of a label: its ASCII characters, a hyphen, and digits for the others.
  ///
  /// O(n²).
  package static func code(of label: String) -> String {
    let scalars = label.unicodeScalars.map { Int($0.value) }
    var code = String.UnicodeScalarView(label.unicodeScalars.filter(\.isASCII))
    let basicCount = code.count
    if basicCount > 0 { code.append("-") }
    var (handled, last, delta, bias) = (basicCount, 0x80, 0, 72)
    while handled < scalars.count, let next = scalars.filter({ $0 >= last }).min() {
      delta += (next - last) * (handled + 1)
      last = next
      for scalar in scalars {
        if scalar < last { delta += 1 }
        guard scalar == last else { continue }
        append(delta, bias, to: &code)
        bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
        (delta, handled) = (0, handled + 1)
      }
      (delta, last) = (delta + 1, last + 1)
    }
    return String(code)
  }

  /// Returns the label that has a code; nil if the code is of none, or is longer than that of a label may be.
  ///
  /// O(n²) in a label, which is short.
  package static func label(ofCode code: some StringProtocol) -> String? {
    let scalars = Array(code.unicodeScalars)
    guard scalars.count <= labelBytesMax, scalars.allSatisfy(\.isASCII) else { return nil }
    let hyphen = scalars.lastIndex(of: "-")
    var label = hyphen.map { Array(scalars[..<$0]) } ?? []
    var rest = hyphen.map { scalars[($0 + 1)...] } ?? scalars[...]
    var (last, index, bias) = (0x80, 0, 72)
    while !rest.isEmpty {
      guard let delta = number(&rest, bias) else { return nil }
      let count = label.count + 1
      bias = adapted(delta, count: count, isFirst: index == 0)
      index += delta
      last += index / count
      index %= count
      guard let value = UInt32(exactly: last), let scalar = Unicode.Scalar(value) else {
        return nil
      }
      label.insert(scalar, at: index)
      index += 1
    }
    return String(String.UnicodeScalarView(label))
  }

  /// Takes a number from digits whose weights follow from the bias; nil if it does not end, or is no code's.
  private static func number(_ digits: inout ArraySlice<Unicode.Scalar>, _ bias: Int) -> Int? {
    var (number, weight, place) = (0, 1, base)
    while let digit = digits.popFirst() {
      let folded = digit.properties.lowercaseMapping.unicodeScalars.first ?? digit
      guard let value = Punycode.digits.firstIndex(of: folded) else { return nil }
      number += value * weight
      // No label needs more, and nothing overflows.
      guard number <= Int(Int32.max) else { return nil }
      let threshold = min(max(place - bias, 1), 26)
      if value < threshold { return number }
      weight *= base - threshold
      guard weight <= Int(Int32.max) else { return nil }
      place += base
    }
    return nil
  }

  /// Appends a number in digits whose weights follow from the bias, the lowest one first.
  private static func append(_ number: Int, _ bias: Int, to code: inout String.UnicodeScalarView) {
    var (rest, place) = (number, base)
    while true {
      let threshold = min(max(place - bias, 1), 26)
      if rest < threshold { return code.append(digits[rest]) }
      code.append(digits[threshold + (rest - threshold) % (base - threshold)])
      rest = (rest - threshold) / (base - threshold)
      place += base
    }
  }

  private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var rest = isFirst ? delta / 700 : delta / 2
    rest += rest / count
    var bias = 0
    while rest > 455 {
      rest /= base - 1
      bias += base
    }
    return bias + base * rest / (rest + 38)
  }
}
