/// The colours of the standard themes, role by role.
///
/// Contrast was computed: the dark colours have at least 5.6:1 on `#1c1c1c`, the light ones at least
/// 4.9:1 on `#eeeeee`. Backgrounds are the terminal's own unless the role needs one.
enum ThemeTable {
  /// With the 256 colours of xterm.
  static func extended(_ role: StyleRole, isLight: Bool) -> Style {  // tidy:table
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
    case .rowChanged: Style(nil, on: isLight ? 230 : 58)
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
    }
  }

  /// With the basic colours, which are the user's.
  ///
  /// Only the first eight are named: the bright ones are missing on some terminals, and bright
  /// black is invisible in some palettes.
  static func sixteen(_ role: StyleRole) -> Style {  // tidy:table
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
    }
  }

  /// Without colours.
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
    }
  }
}
