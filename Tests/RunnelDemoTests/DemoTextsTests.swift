import RunnelBase
import Testing

@testable import RunnelDemo

/// What a file of texts may not be, each mistake with its place.
@Suite struct DemoTextsTests {
  /// A small file, in which one thing can be replaced.
  private static func file(
    people: String = #"{"id":"ann","name":"Ann","short":"Ann","plot":1}"#,
    script: String = #"["A: hello","B: {veg}"]"#, group: String = "", id: String = "allotment",
    veg: String = #"["peas","leeks"]"#
  ) -> String {
    """
    {"people":[\(people)],"words":{"veg":\(veg)},"groups":[{"id":"\(id)","name":"N",
    "description":"D","ageDays":100,"scripts":[\(script)],"remarks":["hi"]\(group)}]}
    """
  }

  private func texts(_ file: String) throws -> DemoTexts {
    try DemoTexts(parsing: Array(file.utf8))
  }

  /// A file with one mistake, where it is, and what is said of it.
  struct Mistake: CustomTestStringConvertible {
    let file: String
    let place: String
    let says: String

    init(_ file: String, _ place: String, _ says: String) {
      (self.file, self.place, self.says) = (file, place, says)
    }

    var testDescription: String { says }
  }

  private static let script = "groups[0].scripts[0]"

  static let mistakes = [
    Mistake("{", "The demo's texts", "line 1"),
    Mistake("[]", "The demo's texts", "this is no object"),
    Mistake(#"{"people":[],"words":{}}"#, "people", "somebody has to be there"),
    Mistake(#"{"peple":[]}"#, "The demo's texts", "'peple' is not known"),
    Mistake(file(people: "7"), "people[0]", "this is no object"),
    Mistake(file(people: #"{"id":"Ann"}"#), "people[0]", "letters from a to z"),
    Mistake(
      file(people: #"{"id":"ann","name":"A","short":"A","plot":0}"#), "people[0].plot",
      "from 1 to 9999"),
    Mistake(
      file(people: #"{"id":"ann","name":"A","short":"A","plot":1,"away":true}"#), "people",
      "somebody has to be there"),
    Mistake(file(id: "other"), "groups", "no group with the id allotment"),
    Mistake(file(id: "a/b"), "groups[0]", "is no key"),
    Mistake(file(veg: "[]"), "words.veg", "there are no words"),
    Mistake(file(script: ""), "groups[0]", "there are no scripts"),
    Mistake(file(script: "[]"), script, "nothing is said"),
    Mistake(file(script: #"["?A: x","B: y"]"#), script, "may not begin with '?'"),
    Mistake(file(script: #"["A: "]"#), script + "[0]", "nothing is said"),
    Mistake(file(script: #"["bob: x"]"#), script + "[0]", "'bob' is nobody"),
    Mistake(file(script: #"["A: [x|y"]"#), script + "[0]", "'[' is not closed"),
    Mistake(file(script: #"["A: x]"]"#), script + "[0]", "']' closes nothing"),
    Mistake(file(script: #"["A: [x|[y]|z]"]"#), script + "[0]", "'[' is not closed"),
    Mistake(file(script: #"["A: {fish}"]"#), script + "[0]", "nothing fills the slot 'fish'"),
    Mistake(file(script: #"["A: [x|{fishB}]"]"#), script + "[0]", "nothing fills"),
    Mistake(file(script: #"["A: {veg2}"]"#, veg: #"["peas"]"#), script + "[0]", "nothing fills"),
    Mistake(
      file(group: #","announcements":[{"place":2,"script":["A: x"]}]"#),
      "groups[0].announcements[0].place", "no number from 0 to 1"),
  ]

  @Test(arguments: mistakes)
  func aMistakeIsToldWithItsPlace(mistake: Mistake) throws {
    let error = try #require(throws: DemoTextsError.self) { try texts(mistake.file) }
    #expect(error.place == mistake.place)
    #expect(error.description.contains(mistake.says), "\(error)")
  }

  /// One person plays all parts, also those of organizers, who are not there.
  @Test func textsThatWereReadMakeADemo() throws {
    let texts = try texts(
      Self.file(
        script: #"["A: {veg} {veg2}","ann: hello {B} of {plotC}","O: [x|{day}]","P: {a/b}"]"#,
        group: #","announcements":[{"place":0.5,"script":["O: hear"]}],"messageCount":40"#))
    let demo = DemoData(texts, seed: 1, messageCount: 40, endingAt: 1_788_111_900_000)
    guard case .object(let messages)? = demo.json()["group_message"]?["allotment"] else {
      Issue.record("There are no messages.")
      return
    }
    #expect(messages.count == 40)
    #expect(messages.allSatisfy { $0.value["from"] == "ann" })
  }

  /// Whatever is left out of the file or changed in it, reading says what is wrong, or a demo is made.
  @Test func aDamagedFileIsRefusedOrMakesADemo() throws {
    let bytes = Array(
      Self.file(script: #"["A: {veg} [a|{B}]","?C: {plotA}"]"#, group: #","messageCount":3"#).utf8)
    var random = SeededRandom(seed: 5)
    var readCount = 0
    for index in bytes.indices {
      var damaged = bytes
      if Bool.random(using: &random) { damaged.remove(at: index) } else { damaged[index] ^= 1 }
      guard let texts = try? DemoTexts(parsing: damaged) else { continue }
      readCount += 1
      _ = DemoData(texts, seed: 2, messageCount: 3, endingAt: 1_788_111_900_000).json()
    }
    #expect(readCount > 0)
  }
}
