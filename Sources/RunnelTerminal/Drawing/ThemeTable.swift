/// The colors of the themes, role by role.
///
/// The background is the terminal's own unless the role needs another one. `ThemeContrastTests`
/// compute the contrast of each role: the dark colors have at least 5.6:1 on `#1c1c1c`, the light
/// ones at least 4.9:1 on `#eeeeee`.
enum ThemeTable {
  /// Returns the style of a role with the 256 colors of xterm.
  static func extended(_ role: StyleRole, _ name: ThemeName) -> Style {
    switch name {
    case .dark, .mono, .terminal: standard(role, isLight: false)
    case .light: standard(role, isLight: true)
    case .darkHighContrast: highContrast(role, isLight: false)
    case .lightHighContrast: highContrast(role, isLight: true)
    case .darkColorBlind:
      colorBlind(role, isLight: false) ?? standard(role, isLight: false)
    case .lightColorBlind:
      colorBlind(role, isLight: true) ?? standard(role, isLight: true)
    }
  }

  /// The styles drawn over the cursor row: with the focus, and without it.
  static func rowCursors(_ name: ThemeName, depth: ColorDepth) -> (Style, Style) {
    guard depth == .extended else { return (Style(nil, .reverse), Style(nil, .underline)) }
    return switch name {
    case .darkHighContrast, .lightHighContrast: (Style(nil, .reverse), Style(nil, .underline))
    case .light, .lightColorBlind: (Style(nil, on: 254, .bold), Style(nil, on: 255))
    default: (Style(nil, on: 237, .bold), Style(nil, on: 235))
    }
  }

  private static func standard(_ role: StyleRole, isLight: Bool) -> Style {  // tidy:table
    func color(_ dark: UInt8, _ light: UInt8, _ attributes: Style.Attributes = []) -> Style {
      Style(isLight ? light : dark, attributes)
    }
    return switch role {
    case .text, .toastInfo: Style()
    case .muted, .jsonNull: color(246, 240)
    case .strong: Style(nil, .bold)
    case .frame, .scrollbar: color(240, 250)
    case .frameFocus, .hintKey, .link, .dialog: color(75, 25)
    case .title, .sectionHeader: color(110, 24, .bold)
    case .sectionSticky: color(110, 24, [.bold, .underline])
    case .rowMarked: color(221, 94)
    case .rowNew, .live, .ok: color(114, 22)
    case .rowChanged: Style(isLight ? nil : 231, on: isLight ? 230 : 58)
    case .rowPending, .jsonNumber: color(180, 94)
    case .conflict, .error, .dialogDanger, .toastError: color(210, 124)
    case .transient: color(246, 240, .italic)
    case .placeholder: color(109, 23)
    case .unreadLine, .warn, .connecting, .toastWarn: color(214, 94)
    case .searchMatch: Style(16, on: 221)
    case .searchCurrent: Style(16, on: 208)
    case .input: Style(nil, .underline)
    case .inputInvalid: color(210, 124, .underline)
    case .jsonKey: color(110, 24)
    case .jsonString: color(150, 22)
    case .jsonBool: color(176, 90)
    case .production: Style(231, on: isLight ? 124 : 88)
    case .profileYellow: Style(16, on: 220)
    case .profileGreen: Style(231, on: 22)
    case .profileBlue: Style(231, on: 18)
    case .profileMagenta: Style(231, on: 53)
    case .profileCyan: Style(16, on: 44)
    case .value1: color(117, 25)
    case .value2: color(150, 22)
    case .value3: color(216, 94)
    case .value4: color(183, 54)
    case .value5: color(186, 58)
    case .value6: color(115, 23)
    }
  }

  /// Returns the style of a role with a contrast of at least 7:1 on black and on white, also for
  /// frames.
  private static func highContrast(_ role: StyleRole, isLight: Bool) -> Style {  // tidy:table
    func color(_ dark: UInt8, _ light: UInt8, _ attributes: Style.Attributes = []) -> Style {
      Style(isLight ? light : dark, attributes)
    }
    return switch role {
    case .text, .toastInfo, .muted, .jsonNull: color(231, 16)
    case .strong: color(231, 16, .bold)
    case .frame, .scrollbar: color(250, 238)
    case .frameFocus, .hintKey, .link, .dialog: color(123, 18, .bold)
    case .title, .sectionHeader: color(159, 18, .bold)
    case .sectionSticky: color(159, 18, [.bold, .underline])
    case .rowMarked: color(226, 52, .bold)
    case .rowNew, .live, .ok: color(156, 22, .bold)
    case .rowChanged: Style(isLight ? 16 : 231, on: isLight ? 230 : 17, .bold)
    case .rowPending, .jsonNumber: color(229, 52)
    case .conflict, .error, .dialogDanger, .toastError: color(217, 88, .bold)
    case .transient: color(231, 16, .italic)
    case .placeholder, .jsonKey: color(195, 17)
    case .unreadLine, .warn, .connecting, .toastWarn: color(226, 52, .bold)
    case .searchMatch: Style(16, on: 226)
    case .searchCurrent: Style(16, on: 214, .bold)
    case .input: color(231, 16, .underline)
    case .inputInvalid: color(217, 88, [.bold, .underline])
    case .jsonString: color(156, 22)
    case .jsonBool: color(225, 53)
    case .production: Style(231, on: 88, .bold)
    case .profileYellow: Style(16, on: 220, .bold)
    case .profileGreen: Style(231, on: 22, .bold)
    case .profileBlue: Style(231, on: 18, .bold)
    case .profileMagenta: Style(231, on: 53, .bold)
    case .profileCyan: Style(16, on: 44, .bold)
    case .value1: color(153, 18)
    case .value2: color(157, 22)
    case .value3: color(223, 52)
    case .value4: color(225, 53)
    case .value5: color(229, 54)
    case .value6: color(159, 17)
    }
  }

  /// Returns the style that differs from the standard theme, or nil: no states are distinguished by
  /// green and red alone.
  private static func colorBlind(_ role: StyleRole, isLight: Bool) -> Style? {
    func color(_ dark: UInt8, _ light: UInt8, _ attributes: Style.Attributes = []) -> Style {
      Style(isLight ? light : dark, attributes)
    }
    return switch role {
    case .rowNew, .live, .ok, .jsonString: color(75, 19)
    case .conflict, .error, .dialogDanger, .toastError: color(208, 94, .bold)
    case .inputInvalid: color(208, 94, .underline)
    case .rowMarked, .rowPending, .jsonNumber: color(228, 58)
    case .unreadLine, .warn, .connecting, .toastWarn: color(228, 58, .bold)
    case .title, .sectionHeader: color(153, 24, .bold)
    case .sectionSticky: color(153, 24, [.bold, .underline])
    case .rowChanged: Style(isLight ? nil : 231, on: isLight ? 230 : 17)
    case .production: Style(16, on: 208)
    case .value2: color(153, 19)
    case .value3: color(222, 94)
    case .value5: color(228, 58)
    case .value6: color(253, 238)
    default: nil
    }
  }

  /// Styles in the basic colors, which the user chooses.
  ///
  /// Only the first eight are named: the bright ones are missing on some terminals, and bright
  /// black is invisible in some palettes.
  static func sixteen(_ role: StyleRole, _ name: ThemeName) -> Style {
    switch name {
    case .darkHighContrast, .lightHighContrast: sixteenHighContrast(role)
    case .darkColorBlind, .lightColorBlind: sixteenColorBlind(role) ?? sixteenStandard(role)
    default: sixteenStandard(role)
    }
  }

  /// Returns the style of a role with no faint text.
  private static func sixteenHighContrast(_ role: StyleRole) -> Style {
    switch role {
    case .muted, .transient, .jsonNull: Style()
    case .link: Style(nil, .underline)
    default: sixteenStandard(role)
    }
  }

  /// Returns the style that differs from the standard theme, or nil: cyan and yellow replace green
  /// and red.
  private static func sixteenColorBlind(_ role: StyleRole) -> Style? {
    switch role {
    case .rowNew, .live, .ok, .jsonString: Style(6)
    case .conflict, .error, .dialogDanger, .toastError: Style(3, [.bold, .reverse])
    case .production: Style(0, on: 3)
    default: nil
    }
  }

  private static func sixteenStandard(_ role: StyleRole) -> Style {  // tidy:table
    switch role {
    case .text, .frame, .scrollbar, .toastInfo: Style()
    case .muted, .transient, .jsonNull: Style(nil, .dim)
    case .strong, .dialog: Style(nil, .bold)
    case .frameFocus, .hintKey, .title, .sectionHeader: Style(6, .bold)
    case .link: Style(4)
    case .sectionSticky: Style(6, [.bold, .underline])
    case .rowMarked, .rowPending, .connecting, .jsonNumber, .toastWarn: Style(3)
    case .rowNew, .live, .ok, .jsonString: Style(2)
    case .rowChanged, .searchCurrent: Style(nil, .reverse)
    case .conflict, .error, .dialogDanger: Style(1, .bold)
    case .placeholder, .jsonKey: Style(6)
    case .unreadLine, .warn: Style(3, .bold)
    case .searchMatch: Style(0, on: 3)
    case .input, .inputInvalid: Style(nil, .underline)
    case .jsonBool: Style(5)
    case .toastError: Style(1)
    case .production: Style(7, on: 1)
    case .profileYellow: Style(0, on: 3)
    case .profileGreen: Style(0, on: 2)
    case .profileBlue: Style(7, on: 4)
    case .profileMagenta: Style(7, on: 5)
    case .profileCyan: Style(0, on: 6)
    case .value1: Style(6)
    case .value2: Style(2)
    case .value3: Style(3)
    case .value4: Style(5)
    case .value5: Style(3, .bold)
    case .value6: Style(6, .bold)
    }
  }

  /// Returns the style of a role without colors.
  static func colorless(_ role: StyleRole) -> Style {  // tidy:table
    switch role {
    case .text, .muted, .frame, .live, .ok, .toastInfo, .scrollbar: Style()
    case .jsonKey, .jsonString, .jsonNumber, .jsonBool, .jsonNull: Style()
    case .strong, .frameFocus, .hintKey, .title, .sectionHeader: Style(nil, .bold)
    case .rowMarked, .rowNew, .rowChanged, .connecting, .unreadLine, .warn: Style(nil, .bold)
    case .dialog, .dialogDanger, .toastWarn: Style(nil, .bold)
    case .sectionSticky: Style(nil, [.bold, .underline])
    case .link, .rowPending, .input, .inputInvalid, .searchMatch: Style(nil, .underline)
    case .transient, .placeholder: Style(nil, .dim)
    case .conflict, .error, .toastError, .searchCurrent, .production: Style(nil, .reverse)
    case .profileYellow, .profileGreen, .profileBlue: Style(nil, .reverse)
    case .profileMagenta, .profileCyan: Style(nil, .reverse)
    // Attributes tell values apart where colors cannot.
    case .value1: Style()
    case .value2: Style(nil, .bold)
    case .value3: Style(nil, .underline)
    case .value4: Style(nil, [.bold, .underline])
    case .value5: Style(nil, .italic)
    case .value6: Style(nil, [.bold, .italic])
    }
  }
}
