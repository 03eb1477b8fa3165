import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A garden's groups, messages, likes and users, as a resources file describes them.
extension Fixture {
  static let gardenResourcesText = """
    log: /action
    resources:
      - name: user
        path: /user/@
        fields:
          name: { kind: text, required: true, length: [1, 12] }
          role: { kind: choice, choices: [organizer, participant], initial: participant }
          plot: { kind: integer, range: [1, 40] }
          away: { kind: boolean }
      - name: group
        path: /group/@
        fields:
          name: { kind: text, required: true }
        counters:
          - { field: message_count, count: message }
      - name: message
        path: /group_message/$group/@
        fields:
          text: { kind: text, required: true, length: [1, 20] }
          from: { kind: reference, to: user, required: true }
          created: { kind: time, initial: { .sv: timestamp } }
        counters:
          - { field: like_count, count: like }
        destroy-with:
          - { owner: group }
      - name: like
        path: /message_like/$group/$message/$user
        fields:
          created: { kind: time, initial: { .sv: timestamp } }
        destroy-with:
          - { owner: message }
    """

  static let gardenViewsText = """
    views:
      - name: Chat
        path: /group_message/g
        anchor: last
        columns:
          - { field: from, width: 8 }
          - { field: text }
          - { field: like_count, format: count, width: 2 }
        compose: text
        new:
          from: $me
      - name: Groups
        path: /group
        columns:
          - { field: name, width: 12 }
          - { field: message_count }
      - name: People
        path: /user
        order: name
        columns:
          - { field: name, width: 12 }
          - { field: plot }
      - name: Notes
        path: /note
        columns:
          - { field: text }
    """

  static var garden: JSONValue {
    [
      "group": ["g": ["message_count": 2, "name": "Garden"]],
      "group_message": [
        "g": [
          "-M1": ["created": 1, "from": "ana", "like_count": 1, "text": "Rain"],
          "-M2": ["created": 2, "from": "bo", "like_count": 0, "text": "Sun"],
        ]
      ],
      "message_like": ["g": ["-M1": ["bo": ["created": 3]]]],
      "note": ["n1": ["text": "free"]],
      "user": [
        "ana": ["name": "Ana", "plot": 3, "role": "organizer"],
        "bo": ["name": "Bo", "plot": 12, "role": "participant"],
        "zoe": ["name": "Zoe", "plot": 5, "role": "participant"],
      ],
    ]
  }

  static func gardenBook() throws -> ResourceBook {
    try ResourceBook(yaml: gardenResourcesText, name: "garden.resources.yaml")
  }

  static func gardenViews() throws -> [ViewDefinition] {
    try ViewFile(yaml: gardenViewsText, name: "garden.views.yaml").views
      + [gardenBook().activityView].compactMap(\.self)
  }

  /// The application on the garden.
  static func gardenApp(
    _ book: ResourceBook? = nil, isReadOnly: Bool = false, isRecording: Bool = false,
    me: String = "zoe", rows: Int = 24
  ) throws -> AppDriver {
    try AppDriver(
      gardenViews(), resources: book ?? gardenBook(), json: garden, rows: rows,
      isReadOnly: isReadOnly, isRecording: isRecording, me: me)
  }
}

extension AppDriver {
  /// What an audit of the resources finds.
  func report() throws -> ResourceReport {
    try #require(try backend.session.audit(state.database.resources.registry))
  }

  /// The entries of the action log, oldest first.
  func log() throws -> [RunnelStreams.ActionLogEntry] {
    let rows = try backend.session.rows(Query(Path("/action")).ordered(by: .key))
    return rows.compactMap { row in row.node.flatMap { .init(id: row.key, $0) } }
  }

  /// Moves to the line with a text.
  func go(to text: String) {
    press("gg")
    for _ in 0..<body.count where !cursorLine.contains(text) { press("j") }
    if !cursorLine.contains(text) { Issue.record("no line has \(text): \(body)") }
  }

  /// Gives the keys to a field of the form on top.
  func go(toField label: String) {
    for _ in form?.fields ?? [] where form?.fields[form?.focus ?? 0].label != label { press("Tab") }
  }

  /// The form on top; nil if there is none.
  var form: FormScreen? {
    if case .form(let form)? = state.layers.last { form } else { nil }
  }
}
