import RunnelBase
import RunnelTerminal
import RunnelWorkspace
import Yams

// How the user is told of new rows, in views files and the configuration.

extension YAMLObject {
  /// Reads the member of a view: `true`, `false`, or the ways.
  func notices(_ name: String) throws -> ViewNotices {
    guard let node = node(name) else { return .none }
    if let flag = node.bool { return flag ? .usual : .none }
    return .by(try ways(node, name))
  }

  /// Reads the settings in the configuration: `by`, and the hours that are `quiet`.
  func noticeSettings() throws -> NoticeSettings {
    try check(allowed: ["by", "quiet"])
    var settings = NoticeSettings()
    if let node = node("by") { settings.ways = try ways(node, "by") }
    if let text = try string("quiet") {
      guard let hours = QuietHours(text) else {
        throw error("`quiet` is \(QuietHours.help), not `\(text)`.", at: "quiet")
      }
      settings.quiet = hours
    }
    return settings
  }

  private func ways(_ node: Yams.Node, _ name: String) throws -> [TerminalNotice.Way] {
    let texts = try node.sequence.map { try $0.map(text) } ?? [text(node)]
    return try texts.map { text in
      if let way = TerminalNotice.Way(rawValue: text) { return way }
      let known = TerminalNotice.Way.allCases.map(\.rawValue)
      throw error(
        "`\(name)` has the ways \(known.joined(separator: ", ")), not `\(text)`"
          + (Spelling.nearest(to: text, among: known).map { ": did you mean `\($0)`?" } ?? "."),
        at: name)
    }
  }
}
