import Glibc

/// A color as a theme file names it, independent of the terminal's colors.
package enum ThemeColor: Hashable, Sendable {
  /// The terminal's own color.
  case terminal
  /// One of the 256 colors of xterm; the user chooses the first 16.
  case number(UInt8)
  /// A color by its parts.
  case rgb(RGB)

  /// The names of the first eight colors, in the order of their numbers.
  private static let basicNames = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
  ]

  /// The names of colors, in the order in which they are listed.
  package static let names = ["default"] + basicNames + basicNames.map { "bright-" + $0 }

  /// Reads a name, a number from 0 to 255, or `#rrggbb`; returns nil for any other text.
  package init?(_ text: String) {
    if let number = UInt8(text) {
      self = .number(number)
    } else if let color = RGB(hexText: text) {
      self = .rgb(color)
    } else if let index = ThemeColor.names.firstIndex(of: text) {
      self = index == 0 ? .terminal : .number(UInt8(index - 1))
    } else {
      return nil
    }
  }
}

// MARK: 256 colours

extension ThemeColor {
  /// The most similar of the 256 colors of xterm; nil for the terminal's own.
  ///
  /// RGB colors are never mapped to the first 16, which look different for every user.
  var extended: UInt8? {
    switch self {
    case .terminal: nil
    case .number(let number): number
    case .rgb(let color): ThemeColor.nearest(to: color)
    }
  }

  private static func nearest(to color: RGB) -> UInt8 {
    let wanted = PerceivedColor(color)
    var best: (number: UInt8, distance: Double) = (16, .infinity)
    for number in UInt8(16)...255 {
      let distance = PerceivedColor(RGB(xterm: number)).distance(to: wanted)
      if distance < best.distance { best = (number, distance) }
    }
    return best.number
  }
}

// MARK: 16 colours

/// A color on a terminal that has only the basic ones.
enum BasicColor: Hashable {
  /// One of the first eight colors.
  case named(UInt8)
  /// One of the next eight colors, which are the first ones in bold.
  case bright(UInt8)
  /// A grey, by its lightness from 0 to 1.
  case grey(Double)
}

extension ThemeColor {
  /// The chroma up to which a color counts as a grey.
  private static let greyChromaMax = 0.04

  /// The similar basic color; nil for the terminal's own.
  ///
  /// The hue decides; the user's palette says how dark or light the basic color is.
  var basic: BasicColor? {
    switch self {
    case .terminal: return nil
    case .number(let number) where number < 8: return .named(number)
    case .number(let number) where number < 16: return .bright(number - 8)
    case .number(let number): return ThemeColor.basic(RGB(xterm: number))
    case .rgb(let color): return ThemeColor.basic(color)
    }
  }

  private static func basic(_ color: RGB) -> BasicColor {
    let seen = PerceivedColor(color)
    if seen.chroma <= greyChromaMax { return .grey(seen.lightness) }
    let hues: [(number: UInt8, color: RGB)] = [
      (1, RGB(255, 0, 0)), (2, RGB(0, 255, 0)), (3, RGB(255, 255, 0)), (4, RGB(0, 0, 255)),
      (5, RGB(255, 0, 255)), (6, RGB(0, 255, 255)),
      // Orange is a kind of yellow, as terminals draw it: brown in some of them.
      (3, RGB(255, 175, 0)),
    ]
    let nearest = hues.min {
      seen.hueDistance(to: PerceivedColor($0.color))
        < seen.hueDistance(to: PerceivedColor($1.color))
    }
    return nearest.map { .named($0.number) } ?? .grey(seen.lightness)
  }
}

/// A color in a perceptual space: distances in it are about as large as people see them.
///
/// Source: Björn Ottosson, "A perceptual color space for image processing" (Oklab), 2020.
struct PerceivedColor {
  /// The lightness, from 0 (black) to 1 (white).
  let lightness: Double
  private let greenToRed: Double
  private let blueToYellow: Double

  init(_ color: RGB) {
    let (red, green, blue) = (
      RGB.linear(color.red), RGB.linear(color.green), RGB.linear(color.blue)
    )
    let long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    let medium = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    let short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    greenToRed = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    blueToYellow = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
  }

  /// The distance from grey.
  var chroma: Double { hypot(greenToRed, blueToYellow) }

  func distance(to other: PerceivedColor) -> Double {
    hypot(
      lightness - other.lightness,
      hypot(greenToRed - other.greenToRed, blueToYellow - other.blueToYellow))
  }

  /// The angle between the hues, from 0 to π.
  func hueDistance(to other: PerceivedColor) -> Double {
    let angle = abs(
      atan2(blueToYellow, greenToRed) - atan2(other.blueToYellow, other.greenToRed))
    return min(angle, 2 * .pi - angle)
  }
}
