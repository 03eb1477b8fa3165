import Glibc

/// Opens a link in the desktop's browser, without waiting for it.
package struct LinkOpener: Sendable {
  /// The program that opens links; nil if there is none, or no desktop.
  package let program: String?

  /// Finds the program of this process.
  package init() {
    self.init(
      environment: { name in getenv(name).map { String(cString: $0) } },
      isInstalled: Clipboard.isInstalled)
  }

  /// Finds the program that an environment has.
  ///
  /// - Parameters:
  ///   - environment: returns the variable with a name.
  ///   - isInstalled: tells whether a program with a name exists.
  init(environment: (String) -> String?, isInstalled: (String) -> Bool) {
    func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }
    #if os(macOS)
    let candidates = ["open"]
    #else
    // Without a desktop, xdg-open would start a browser on this terminal.
    let hasDesktop = isSet("DISPLAY") || isSet("WAYLAND_DISPLAY")
    let candidates = (hasDesktop ? ["xdg-open"] : []) + ["wslview"]
    #endif
    program = candidates.first(where: isInstalled)
  }

  /// Opens a link to the web.
  ///
  /// - Returns: the program that was started; nil if there is none, or it is not a link to the web.
  package func open(_ link: String) -> String? {
    guard let program, link.hasPrefix("https://") || link.hasPrefix("http://") else { return nil }
    // The shell starts the program in the background, without this terminal.
    let script = "\"$1\" \"$2\" </dev/null >/dev/null 2>&1 &"
    let status = ChildProcess.run(
      ["sh", "-c", script, "sh", program, link], input: [], milliseconds: 2000)
    return status == 0 ? program : nil
  }
}
