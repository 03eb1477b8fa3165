/// What is to be different in a style; nil leaves it.
public struct StyleChange: Hashable, Sendable {
  /// The colour of the text.
  public var foreground: ThemeColor?
  /// The colour behind the text.
  public var background: ThemeColor?
  /// All that is done to the text beside colour.
  public var attributes: Style.Attributes?

  /// Makes a change.
  public init(
    foreground: ThemeColor? = nil, background: ThemeColor? = nil,
    attributes: Style.Attributes? = nil
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}

/// What is different in some roles of a theme.
public struct RoleChanges: Hashable, Sendable {
  /// What a role looks like.
  public enum Look: Hashable, Sendable {
    /// As in the theme, with changes.
    case changed(StyleChange)
    /// As another role.
    case like(ThemeRole)
  }

  private var looks: [ThemeRole: Look] = [:]

  /// Changes nothing.
  public init() {}

  /// What is different in a role; nil if nothing is.
  public subscript(role: ThemeRole) -> Look? {
    get { looks[role] }
    set { looks[role] = newValue }
  }

  /// True if all is as in the theme.
  public var isEmpty: Bool { looks.isEmpty }

  /// The roles that a role is like, itself first; the last one comes again if they are like each other.
  ///
  /// O(n) in them.
  public func chain(from role: ThemeRole) -> [ThemeRole] {
    var chain = [role]
    while let last = chain.last, case .like(let next)? = looks[last] {
      defer { chain.append(next) }
      if chain.contains(next) { return chain + [next] }
    }
    return chain
  }
}

/// A theme that a user wrote: one of the program's with other roles.
public struct CustomTheme: Hashable, Sendable {
  /// What it is called.
  public var name: String
  /// The theme that holds where it says nothing; nil for the one for what is behind the text.
  public var base: ThemeName?
  /// What is different.
  public var roles: RoleChanges

  /// Makes a theme.
  public init(name: String, base: ThemeName? = nil, roles: RoleChanges = RoleChanges()) {
    self.name = name
    self.base = base
    self.roles = roles
  }
}

// MARK: In the colours of a terminal

extension StyleChange {
  /// A style with the change, in so many colours.
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

  /// Whoever names what is behind the text does not mean the two exchanged, unless that is said, too.
  private func attributes(over style: Style) -> Style.Attributes {
    if let attributes { return attributes }
    let isColored = background != nil && background != .terminal
    return isColored ? style.attributes.subtracting(.reverse) : style.attributes
  }

  /// What tells states apart without colours stays; attributes are only added.
  private func colorless(_ style: Style) -> Style {
    Style(nil, style.attributes.union(attributes ?? []))
  }

  /// Basic colours are the user's, so greys become what is sure to be seen: the terminal's own colour,
  /// faint or not, and behind the text the two exchanged.
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
  /// Greys between these are faint.
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
      // Coloured text is told from other text without what is behind it.
      if foreground == nil { attributes.insert(.reverse) }
    }
    if background != nil { attributes.remove(.dim) }
  }

  /// Black or white: what is wanted, or what is read better on a basic colour.
  fileprivate static func ink(on ground: UInt8, wanted: BasicColor?) -> UInt8 {
    let (black, white): (UInt8, UInt8) = (0, 7)
    // Red, blue and magenta are dark in most palettes.
    var ink = [0, 1, 4, 5].contains(ground) ? white : black
    if case .grey(let lightness)? = wanted { ink = lightness < 0.5 ? black : white }
    return ink == ground ? (ink == black ? white : black) : ink
  }
}
