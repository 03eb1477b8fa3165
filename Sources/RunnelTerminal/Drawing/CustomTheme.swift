/// A change of a style; nil keeps a part of it.
package struct StyleChange: Hashable, Sendable {
  /// The color of the text.
  package var foreground: ThemeColor?
  /// The color behind the text.
  package var background: ThemeColor?
  /// All attributes of the text besides color.
  package var attributes: Style.Attributes?

  /// Makes a change.
  package init(
    foreground: ThemeColor? = nil, background: ThemeColor? = nil,
    attributes: Style.Attributes? = nil
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}

/// The changes of some roles of a theme.
package struct RoleChanges: Hashable, Sendable {
  /// The new look of a role.
  package enum Look: Hashable, Sendable {
    /// As in the theme, with changes.
    case changed(StyleChange)
    /// As another role.
    case like(ThemeRole)
  }

  private var looks: [ThemeRole: Look] = [:]

  /// Changes nothing.
  package init() {}

  /// The change of a role; nil if there is none.
  package subscript(role: ThemeRole) -> Look? {
    get { looks[role] }
    set { looks[role] = newValue }
  }

  /// The colors that are named by their parts, by the number of the most similar one of the 256.
  ///
  /// Of two that have the same number, the one of the later role is given.
  var directColors: [UInt8: RGB] {
    var colors: [UInt8: RGB] = [:]
    for role in ThemeRole.allCases {
      guard case .changed(let change)? = looks[role] else { continue }
      for color in [change.foreground, change.background] {
        if case .rgb(let parts)? = color, let number = color?.extended { colors[number] = parts }
      }
    }
    return colors
  }

  /// True if nothing is changed.
  package var isEmpty: Bool { looks.isEmpty }

  /// The roles that a role is like, beginning with itself; in a cycle the last one occurs twice.
  ///
  /// O(n) in them.
  package func chain(from role: ThemeRole) -> [ThemeRole] {
    var chain = [role]
    while let last = chain.last, case .like(let next)? = looks[last] {
      defer { chain.append(next) }
      if chain.contains(next) { return chain + [next] }
    }
    return chain
  }
}

/// A theme that a user wrote: a built-in theme with some roles changed.
package struct CustomTheme: Hashable, Sendable {
  /// The name of the theme.
  package var name: String
  /// The theme for the roles that are not changed; nil for the built-in one that suits the
  /// background.
  package var base: ThemeName?
  /// The changes.
  package var roles: RoleChanges

  /// Makes a theme.
  package init(name: String, base: ThemeName? = nil, roles: RoleChanges = RoleChanges()) {
    self.name = name
    self.base = base
    self.roles = roles
  }
}

// MARK: In the colours of a terminal

extension StyleChange {
  /// A style with the change, in the colors of a terminal.
  func applied(to style: Style, depth: ColorDepth) -> Style {
    switch depth {
    case .extended: extended(style)
    case .sixteen: sixteen(style)
    case .none: colorless(style)
    }
  }

  private func extended(_ style: Style) -> Style {
    Style(
      foreground.map(\.extended) ?? style.foreground,
      on: background.map(\.extended) ?? style.background, attributes(over: style))
  }

  /// Returns the attributes: a change that sets a background does not exchange the two colors,
  /// unless it says so.
  private func attributes(over style: Style) -> Style.Attributes {
    if let attributes { return attributes }
    let isColored = background != nil && background != .terminal
    return isColored ? style.attributes.subtracting(.reverse) : style.attributes
  }

  /// Returns a style without color: attributes that distinguish states stay, others are only added.
  private func colorless(_ style: Style) -> Style {
    Style(nil, style.attributes.union(attributes ?? []))
  }

  /// Returns a style in basic colors.
  ///
  /// The user chooses how the basic colors look, so greys are replaced by colors that are certainly
  /// visible: the terminal's own color, faint or not, and as a background the two colors exchanged.
  private func sixteen(_ style: Style) -> Style {
    var style = style
    style.attributes = attributes(over: style)
    if let foreground { style.takeBasic(foreground: foreground.basic) }
    if let background { style.takeBasic(background: background.basic) }
    if let ground = style.background, style.foreground == nil || style.foreground == ground {
      style.foreground = Style.ink(on: ground, wanted: foreground?.basic)
    }
    return style
  }
}

extension Style {
  /// The lightness of greys that are drawn faint.
  private static let faintGreys = 0.35...0.8

  fileprivate mutating func takeBasic(foreground color: BasicColor?) {
    switch color {
    case nil: foreground = nil
    case .named(let number): foreground = number
    // Bright black is invisible in some palettes.
    case .bright(0): takeBasic(foreground: .grey(0.5))
    case .bright(let number):
      foreground = number
      attributes.insert(.bold)
    case .grey(let lightness):
      foreground = nil
      if Style.faintGreys.contains(lightness) { attributes.insert(.dim) }
    }
  }

  fileprivate mutating func takeBasic(background color: BasicColor?) {
    switch color {
    case nil: background = nil
    case .named(let number), .bright(let number): background = number
    case .grey:
      background = nil
      // Colored text differs from other text without a background.
      if foreground == nil { attributes.insert(.reverse) }
    }
    if background != nil { attributes.remove(.dim) }
  }

  /// Returns black or white: the wanted one, or the one that is more readable on a basic color.
  fileprivate static func ink(on ground: UInt8, wanted: BasicColor?) -> UInt8 {
    let (black, white): (UInt8, UInt8) = (0, 7)
    // Red, blue and magenta are dark in most palettes.
    var ink = [0, 1, 4, 5].contains(ground) ? white : black
    if case .grey(let lightness)? = wanted { ink = lightness < 0.5 ? black : white }
    return ink == ground ? (ink == black ? white : black) : ink
  }
}
