import Glibc

/// A color as its parts of red, green and blue, each from 0 to 255, in the space of sRGB.
public struct RGB: Hashable, Sendable {
  /// The part of red.
  public var red: UInt8
  /// The part of green.
  public var green: UInt8
  /// The part of blue.
  public var blue: UInt8

  /// Makes a color of its parts.
  public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  /// The color with a number among the 256 of xterm.
  ///
  /// The first 16 are those of xterm; in other terminals the user chooses them.
  public init(xterm number: UInt8) {
    if number < 16 {
      self = Self.basic[Int(number)]
    } else if number >= 232 {
      let level = 8 + 10 * (number - 232)
      self.init(level, level, level)
    } else {
      let cube = Int(number) - 16
      self.init(
        Self.levels[cube / 36], Self.levels[cube / 6 % 6], Self.levels[cube % 6])
    }
  }

  /// Reads the notation of the web, `#1c1c1c`; returns nil for any other text.
  public init?(hexText: String) {
    let digits = Array(hexText.utf8)
    guard digits.count == 7, digits[0] == UInt8(ascii: "#"),
      digits.dropFirst().allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let number = UInt32(hexText.dropFirst(), radix: 16)
    else { return nil }
    self.init(UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF))
  }

  private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

  private static let basic = [
    RGB(0, 0, 0), RGB(205, 0, 0), RGB(0, 205, 0), RGB(205, 205, 0),
    RGB(30, 144, 255), RGB(205, 0, 205), RGB(0, 205, 205), RGB(229, 229, 229),
    RGB(127, 127, 127), RGB(255, 0, 0), RGB(0, 255, 0), RGB(255, 255, 0),
    RGB(92, 92, 255), RGB(255, 0, 255), RGB(0, 255, 255), RGB(255, 255, 255),
  ]

  /// The brightness of the color, from 0 (black) to 1 (white).
  ///
  /// Source: WCAG 2.2, relative luminance.
  public var luminance: Double {
    0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
  }

  /// The contrast of two colors, from 1 (none) to 21 (black on white).
  ///
  /// Source: WCAG 2.2, contrast ratio.
  public func contrast(to other: RGB) -> Double {
    let (high, low) = (max(luminance, other.luminance), min(luminance, other.luminance))
    return (high + 0.05) / (low + 0.05)
  }

  /// Returns the light that a part of a color stands for, from 0 to 1.
  static func linear(_ part: UInt8) -> Double {
    let value = Double(part) / 255
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  /// The notation of the web: `#1c1c1c`.
  public var hexText: String {
    let digits = Array("0123456789abcdef")
    return [red, green, blue].reduce(into: "#") { text, part in
      text.append(digits[Int(part) / 16])
      text.append(digits[Int(part) % 16])
    }
  }
}
