/// The form of a label beyond ASCII in the names of hosts, without its prefix.
///
/// Source: RFC 3492.
enum Punycode {
  private static let base = 36
  private static let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789".unicodeScalars)

  /// Returns the code of a label: its ASCII characters, a hyphen, and digits for the others.
  ///
  /// O(n²).
  static func code(of label: String) -> String {
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
