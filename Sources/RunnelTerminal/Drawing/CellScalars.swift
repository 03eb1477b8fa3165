/// The scalars that fill one cell: a base and the marks drawn over it; none in the second half of a
/// wide cell.
///
/// It has no references, so that the thousands of cells of a frame are made, copied and compared as
/// plain numbers.
struct CellScalars: Hashable, Sendable {
  /// The greatest number of scalars in a cell: a base, its marks, and a mark of direction.
  static let countMax = CellText.marksMax + 2

  // Zero stands for no scalar, because control characters were replaced before.
  private var first: UInt32 = 0
  private var second: UInt32 = 0
  private var third: UInt32 = 0
  private var fourth: UInt32 = 0
  private var fifth: UInt32 = 0
  private var sixth: UInt32 = 0

  /// No scalars.
  init() {}

  /// One scalar.
  init(_ scalar: Unicode.Scalar) { first = scalar.value }

  /// An ASCII character.
  init(ascii byte: UInt8) { first = UInt32(byte) }

  /// The first scalars of a text.
  init(_ text: String) {
    for scalar in text.unicodeScalars.prefix(CellScalars.countMax) { append(scalar) }
  }

  /// The value of the base; zero if there is none.
  var base: UInt32 { first }

  /// The number of scalars.
  var count: Int {
    if second == 0 { return first == 0 ? 0 : 1 }
    return third == 0 ? 2 : fourth == 0 ? 3 : fifth == 0 ? 4 : sixth == 0 ? 5 : 6
  }

  /// The scalars as text.
  var text: String {
    var scalars = String.UnicodeScalarView()
    for value in [first, second, third, fourth, fifth, sixth] {
      if value != 0, let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
    }
    return String(scalars)
  }

  /// Adds a scalar if there is room.
  mutating func append(_ scalar: Unicode.Scalar) {
    switch count {
    case 0: first = scalar.value
    case 1: second = scalar.value
    case 2: third = scalar.value
    case 3: fourth = scalar.value
    case 4: fifth = scalar.value
    case 5: sixth = scalar.value
    default: break
    }
  }

  /// The first scalars, up to a number.
  func prefix(_ count: Int) -> CellScalars {
    var kept = self
    if count < 6 { kept.sixth = 0 }
    if count < 5 { kept.fifth = 0 }
    if count < 4 { kept.fourth = 0 }
    if count < 3 { kept.third = 0 }
    if count < 2 { kept.second = 0 }
    if count < 1 { kept.first = 0 }
    return kept
  }

  /// The values of the first five scalars, which is what curses keeps of a cell; zeros follow the
  /// last.
  var five: (UInt32, UInt32, UInt32, UInt32, UInt32) { (first, second, third, fourth, fifth) }
}
