/// A set of UTF-16 code units, as ranges in order that neither touch nor overlap.
struct UnitSet: Hashable, Sendable {
  private(set) var ranges: [ClosedRange<UInt16>]

  /// Makes a set of ranges in any order.
  init(_ ranges: [ClosedRange<UInt16>]) {
    var merged: [ClosedRange<UInt16>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, Int(range.lowerBound) <= Int(last.upperBound) + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    self.ranges = merged
  }

  init(_ unit: UInt16) { ranges = [unit...unit] }

  /// `\d`.
  static let digits = UnitSet([0x30...0x39])
  /// `\w`.
  static let letters = UnitSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  /// `\s`: the white space and the line breaks of JavaScript.
  static let space = UnitSet([
    0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
    0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
  ])
  /// `.`: all but line breaks.
  static let dot = UnitSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029]).inverted

  /// The set of all other units.
  var inverted: UnitSet {
    var result: [ClosedRange<UInt16>] = []
    var next: UInt32 = 0
    for range in ranges {
      if UInt32(range.lowerBound) > next {
        result.append(UInt16(next)...(range.lowerBound - 1))
      }
      next = UInt32(range.upperBound) + 1
    }
    if next <= 0xFFFF { result.append(UInt16(next)...0xFFFF) }
    return UnitSet(result)
  }

  func contains(_ unit: UInt16) -> Bool {
    let index = ranges.lowerBound { $0.upperBound < unit }
    return index < ranges.count && ranges[index].lowerBound <= unit
  }

  /// The set, extended by all units that differ from its units only in case.
  var caseClosed: UnitSet {
    var result = ranges
    for range in ranges {
      for unit in LetterCase.units(in: range) {
        result += LetterCase.variants(of: unit).map { $0...$0 }
      }
    }
    return UnitSet(result)
  }
}

/// Code units that are equal when case is ignored.
///
/// Two units are equal if their upper case is the same unit. A unit whose upper case takes several
/// units is its own upper case, and so is a unit beyond ASCII whose upper case is in ASCII.
///
/// Source: ECMAScript, Canonicalize of regular expressions without the flag u.
enum LetterCase {
  /// The units that have variants, in order.
  private static let cased: [UInt16] = classes.keys.sorted()

  /// The variants of a unit, itself included.
  private static let classes: [UInt16: [UInt16]] = {
    var members: [UInt16: [UInt16]] = [:]
    for unit in UInt16.min...UInt16.max {
      guard let scalar = Unicode.Scalar(unit), scalar.properties.changesWhenUppercased else {
        continue
      }
      let capital = capital(of: scalar, unit)
      if capital != unit { members[capital, default: [capital]].append(unit) }
    }
    var classes: [UInt16: [UInt16]] = [:]
    for group in members.values { for unit in group { classes[unit] = group } }
    return classes
  }()

  private static func capital(of scalar: Unicode.Scalar, _ unit: UInt16) -> UInt16 {
    let units = Array(scalar.properties.uppercaseMapping.utf16)
    guard units.count == 1, unit < 0x80 || units[0] >= 0x80 else { return unit }
    return units[0]
  }

  static func variants(of unit: UInt16) -> [UInt16] { classes[unit] ?? [unit] }

  /// The units of a range that have variants.
  static func units(in range: ClosedRange<UInt16>) -> ArraySlice<UInt16> {
    let start = cased.lowerBound { $0 < range.lowerBound }
    let end = cased.lowerBound { $0 <= range.upperBound }
    return cased[start..<end]
  }
}
