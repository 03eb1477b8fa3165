import Glibc

/// The figures of a run, as one table.
struct Report {
  /// One line of the table; a text that does not apply is empty.
  struct Line {
    var what: String
    var figure: String
    var baseline: String
    var ratio: String
    var aim: String
    var verdict = ""
  }

  /// What a figure is to be; `words` say it where the number does not.
  enum Aim {
    case atLeast(Double)
    case atMost(Double)
    case below(Double, String)

    var words: String {
      switch self {
      case .atLeast(let limit): "at least " + Format.decimal(limit, digits: 2)
      case .atMost(let limit): "at most " + Format.decimal(limit, digits: 2)
      case .below(_, let words): "below " + words
      }
    }

    func isReached(by value: Double) -> Bool {
      switch self {
      case .atLeast(let limit): value >= limit
      case .atMost(let limit): value <= limit
      case .below(let limit, _): value < limit
      }
    }
  }

  private var lines: [Line] = []

  /// Adds a line.
  mutating func add(
    _ what: String, _ figure: String, baseline: String = "", ratio: Double? = nil, aim: String = ""
  ) {
    append(what, figure, baseline, ratio, aim, verdict: "")
  }

  /// Adds a line whose ratio has an aim.
  mutating func add(
    _ what: String, _ figure: String, baseline: String = "", ratio: Double, aim: Aim
  ) {
    add(what, figure, baseline: baseline, ratio: ratio, value: ratio, aim)
  }

  /// Adds a line whose figure, as a number, has an aim.
  mutating func add(
    _ what: String, _ figure: String, baseline: String = "", value: Double, aim: Aim
  ) {
    add(what, figure, baseline: baseline, ratio: nil, value: value, aim)
  }

  private mutating func add(
    _ what: String, _ figure: String, baseline: String, ratio: Double?, value: Double, _ aim: Aim
  ) {
    append(
      what, figure, baseline, ratio, aim.words,
      verdict: aim.isReached(by: value) ? "reached" : "MISSED")
  }

  /// Adds a line, and says it at once: a run takes minutes, and may fail.
  private mutating func append(
    _ what: String, _ figure: String, _ baseline: String, _ ratio: Double?, _ aim: String,
    verdict: String
  ) {
    let ratio = ratio.map { Format.decimal($0, digits: 2) } ?? ""
    let line = Line(
      what: what, figure: figure, baseline: baseline, ratio: ratio, aim: aim, verdict: verdict)
    lines.append(line)
    let cells = [what, figure, baseline, ratio, aim, verdict].filter { !$0.isEmpty }
    Output.note("  " + cells.joined(separator: " | "))
  }

  /// The table as text, its columns aligned.
  func table(title: String) -> String {
    let heading = Line(
      what: title, figure: "figure", baseline: "baseline", ratio: "ratio", aim: "aim")
    let all = [heading] + lines
    let columns: [(width: Int, text: (Line) -> String)] =
      [\Line.what, \.figure, \.baseline, \.ratio, \.aim, \.verdict].map { path in
        (all.map { $0[keyPath: path].count }.max() ?? 0, { $0[keyPath: path] })
      }
    let rule = String(repeating: "-", count: columns.reduce(0) { $0 + $1.width + 2 })
    var text = all.map { line in
      columns.map { column in
        let cell = column.text(line)
        return cell + String(repeating: " ", count: column.width - cell.count)
      }.joined(separator: "  ")
    }
    text.insert(rule, at: 1)
    return text.joined(separator: "\n")
  }
}

/// Numbers as texts.
enum Format {
  /// A number with so many digits after the point.
  static func decimal(_ value: Double, digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let whole = Int((value.magnitude * scale).rounded())
    let (before, after) = whole.quotientAndRemainder(dividingBy: Int(scale))
    let sign = value < 0 ? "-" : ""
    if digits == 0 { return sign + "\(before)" }
    let padding = String(repeating: "0", count: digits - "\(after)".count)
    return "\(sign)\(before).\(padding)\(after)"
  }

  /// A time, in a unit that fits its length.
  static func time(_ seconds: Double) -> String {
    switch seconds {
    case ..<0.001: decimal(seconds * 1_000_000, digits: 0) + " us"
    case ..<0.1: decimal(seconds * 1000, digits: 2) + " ms"
    case ..<10: decimal(seconds * 1000, digits: 0) + " ms"
    default: decimal(seconds, digits: 1) + " s"
    }
  }

  /// A size in megabytes of a million bytes.
  static func megabytes(_ bytes: Int) -> String {
    decimal(Double(bytes) / 1_000_000, digits: 1) + " MB"
  }

  /// How many megabytes a second.
  static func rate(bytes: Int, in seconds: Double) -> String {
    decimal(Double(bytes) / seconds / 1_000_000, digits: 1) + " MB/s"
  }

  /// How many thousands a second.
  static func rate(_ count: Int, in seconds: Double) -> String {
    decimal(Double(count) / seconds / 1000, digits: 1) + " k rows/s"
  }
}

/// What the program says: the table to standard output, notes to standard error.
enum Output {
  /// Says what is being done.
  static func note(_ text: String) { put(text, STDERR_FILENO) }

  /// Writes the result.
  static func print(_ text: String) { put(text, STDOUT_FILENO) }

  private static func put(_ text: String, _ descriptor: Int32) {
    var rest = Array((text + "\n").utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      // Nobody reads: there is nobody to tell either.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
