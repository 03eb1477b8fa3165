import Foundation
import RunnelBase
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Two windows on one database and one session: what is typed in one of them is not lost through the
/// other, in whatever order they are used and end.
@Suite struct TwoWindowsTests {
  @Test func whatOneWindowSendsLeavesTheLineOfTheOther() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    try desk.type("AAA", a)
    try desk.save(a)
    try desk.type("sent", b)
    try desk.sendLine(b)
    try desk.save(b)
    #expect(desk.texts == ["AAA"])
    try desk.end(b)
    #expect(desk.texts == ["AAA"])
  }

  @Test func aWindowThatTypesNothingTakesNothingAway() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    try desk.type("AAA", a)
    try desk.save(a)
    b.app.press("a Esc")
    try desk.end(b)
    #expect(desk.texts == ["AAA"])
  }

  @Test func bothTextsAreKeptAndOfferedOneAfterTheOther() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    try desk.type("AAA", a)
    try desk.save(a)
    try desk.type("BBB", b)
    try desk.save(b)
    #expect(desk.texts == ["AAA", "BBB"])
    desk.kill(a)
    desk.kill(b)
    let next = try desk.start()
    next.app.press("a")
    #expect(next.app.list.line.draft == "AAA")
    #expect(next.app.toast == "this is your draft; 1 more after it")
    next.app.press("Enter")
    #expect(next.app.toast == "", "the text that was sent is no draft")
    next.app.press("Esc a")
    #expect(next.app.list.line.draft == "BBB")
    next.app.press("C-u Esc a")
    #expect(next.app.list.line.draft.isEmpty)
    next.app.press("Esc")
    try desk.end(next)
    #expect(desk.texts.isEmpty)
  }

  @Test func aWindowThatEndsLaterLeavesWhatTheFirstLeft() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    try desk.type("early", b)
    try desk.sendLine(b)
    try desk.save(b)
    try desk.type("AAA", a)
    try desk.end(a)
    try desk.end(b)
    #expect(desk.texts == ["AAA"])
    #expect(try desk.start().app.list.line.draft == "AAA")
  }

  @Test func aWindowThatStartsTakesNothingFromOneThatRuns() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    try desk.type("AAA", a)
    try desk.save(a)
    try desk.end(b)
    let next = try desk.start()
    #expect(next.app.list.line.draft.isEmpty)
    #expect(desk.texts == ["AAA"])
    try desk.sendLine(a)
    try desk.save(a)
    #expect(desk.texts.isEmpty)
    desk.kill(next)
  }

  @Test func whatIsTakenOverIsTakenOnce() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    try desk.type("AAA", a)
    try desk.save(a)
    desk.kill(a)
    let (first, second) = (try desk.start(), try desk.start())
    #expect(first.app.list.line.draft == "AAA")
    #expect(second.app.list.line.draft.isEmpty)
    // Killed before it has written anything by itself.
    desk.kill(first)
    try desk.end(second)
    try desk.end(b)
    #expect(desk.texts == ["AAA"])
  }

  @Test func aTextThatWaitsAndWasStoredIsNoDraft() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    try desk.type("AAA", a)
    try desk.save(a)
    try desk.type("BBB", b)
    try desk.save(b)
    // It is killed right after Enter.
    try desk.sendLine(b)
    desk.kill(a)
    desk.kill(b)
    let next = try desk.start()
    next.app.press("a Enter Esc a")
    #expect(next.app.list.line.draft.isEmpty)
    #expect(next.app.toast == "what you were typing here was saved: it is no draft any more")
  }

  /// As after a revocation: all windows leave the account at once, and come back one by one.
  @Test func windowsThatLeaveTheAccountForAWhileGetTheirOwnTextsBack() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    let (claimsOfA, claimsOfB) = (SessionClaims(), SessionClaims())
    try desk.type("AAA", a)
    try desk.type("BBB", b)
    try desk.end(a, keeping: claimsOfA)
    try desk.end(b, keeping: claimsOfB)
    let second = try desk.start(claimsOfB)
    #expect(second.app.list.line.draft == "BBB")
    // A window that starts meanwhile takes neither.
    let new = try desk.start()
    #expect(new.app.list.line.draft.isEmpty)
    let first = try desk.start(claimsOfA)
    #expect(first.app.list.line.draft == "AAA")
    #expect(desk.texts == ["AAA", "BBB"])
    for window in [second, new, first] { desk.kill(window) }
  }

  @Test func textsOfAWindowThatEndsAsAnotherAccountGoToTheNextOne() throws {
    let (desk, a, b) = try DraftDesk.withTwoWindows()
    let claims = SessionClaims()
    try desk.type("AAA", a)
    try desk.end(a, keeping: claims)
    desk.kill(b)
    claims.release()
    #expect(try desk.start().app.list.line.draft == "AAA")
  }

  @Test func textsWithoutRoomWaitInTheFile() throws {
    func texts(_ writer: Int64, _ letter: String) -> KeptTexts {
      var texts = KeptTexts(writer: writer)
      let line = TypedLine(String(repeating: letter, count: 200_000), time: writer)
      texts.lines["Chat"] = [line]
      return texts
    }
    var stored = SessionState()
    stored.others = [texts(1, "a"), texts(2, "b"), texts(3, "c"), texts(4, "d")]
    let (session, taken) = stored.takingOver { $0 != 4 }
    #expect(taken.map(\.writer) == [1, 2])
    var own = session
    own.writer = 9
    let merged = own.merged(with: stored, since: session, taken: taken)
    #expect(merged.others.map(\.writer) == [3, 4])
    #expect(merged.texts.lines["Chat"]?.map(\.time) == [1, 2])
    #expect(SessionState(merged.json) == merged)
  }

  @Test func unfinishedLinesOfBothAreKept() {
    var (own, theirs) = (SessionState(), SessionState())
    own.unfinished.filter = "from:bo"
    theirs.unfinished.search = "rain"
    let merged = own.merged(with: theirs, since: SessionState())
    #expect(merged.unfinished.filter == "from:bo")
    #expect(merged.unfinished.search == "rain")
  }

  @Test(arguments: Seeds.first(3, oneOf: 20))
  func nothingTypedIsLostInAnyOrder(seed: UInt64) throws {
    let desk = try DraftDesk()
    var random = SeededRandom(seed: seed)
    for step in 0..<120 {
      let last = try desk.step(&random)
      let missing = desk.missing
      try #require(missing.isEmpty, "seed \(seed), step \(step), \(last): \(missing)")
    }
    let (words, offered) = try desk.offerAll()
    for word in words {
      #expect(offered.count { $0 == word } == 1, "seed \(seed): \(word) in \(offered)")
    }
  }
}

/// Windows on one database and one session, and a model of what must be somewhere.
private final class DraftDesk {
  /// A workspace that runs.
  final class Window {
    let app: AppDriver
    var keeper: SessionKeeper
    /// The words that were typed here and neither saved in the session nor sent nor thrown away.
    var fresh: Set<String> = []
    /// The words that the session in the file has from here.
    var kept: Set<String> = []

    init(_ app: AppDriver, _ keeper: SessionKeeper) { (self.app, self.keeper) = (app, keeper) }

    /// The words of all that this window would keep.
    var words: Set<String> { Set(DraftDesk.words(SessionState.session(app.state).allTexts)) }
  }

  private let folder = NSTemporaryDirectory() + "runnel-desk-\(UUID().uuidString)"
  private let file: SessionFile
  private let first: AppDriver
  private var now = Fixture.now
  private var startCount: UInt64 = 0
  private var wordCount = 0
  private(set) var windows: [Window] = []
  /// The words that windows left which have ended.
  private var left: Set<String> = []
  /// The words that were sent: a draft with one of them may be offered again after a kill, or not.
  private var sent: Set<String> = []

  init() throws {
    file = SessionFile(database: "/some/where/chat.db", folder: folder)
    first = try AppDriver(Fixture.views(), json: Fixture.small)
  }

  static func withTwoWindows() throws -> (desk: DraftDesk, Window, Window) {
    let desk = try DraftDesk()
    return (desk, try desk.start(), try desk.start())
  }

  deinit {
    // What is left of a test is of no use to anybody.
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: What happens

  func start(_ claims: SessionClaims? = nil) throws -> Window {
    startCount += 1
    var keeper = SessionKeeper(file, claims)
    let session = keeper.read().session ?? SessionState()
    let app = try AppDriver(
      Fixture.views(), beside: first, now: now, restoring: session, random: startCount * 100)
    let window = Window(app, keeper)
    // What is restored is in the file already.
    window.kept = window.words.subtracting(sent)
    left.subtract(window.words)
    windows.append(window)
    return window
  }

  /// Adds a text to what stands in the line.
  func type(_ text: String, _ window: Window) throws {
    pass()
    window.app.press("a")
    window.app.type(text)
    window.app.press("Esc")
    window.fresh.insert(text)
  }

  func sendLine(_ window: Window) throws {
    pass()
    window.app.press("a")
    let words = DraftDesk.words(window.app.list.line.draft)
    sent.formUnion(words)
    forget(words, window)
    window.app.press("Enter Esc")
  }

  func emptyLine(_ window: Window) {
    pass()
    window.app.press("a")
    forget(DraftDesk.words(window.app.list.line.draft), window)
    window.app.press("C-u Esc")
  }

  /// Adds a text to the form of a new record, and keeps it as a draft.
  func typeIntoForm(_ text: String, _ window: Window) {
    pass()
    window.app.press("g2 a")
    window.app.type(text)
    window.app.press("Esc k g1")
    window.fresh.insert(text)
  }

  func save(_ window: Window) throws {
    pass()
    window.keeper.hasten(now: now)
    let task = window.keeper.begin(SessionState.session(window.app.state), now: now)
    var problems: [String?] = []
    task?.run { report in
      if case .kept(let problem) = report { problems.append(problem) }
    }
    for problem in problems {
      #expect(problem == nil)
      window.keeper.end(problem, now: now)
    }
    window.kept.formUnion(window.fresh)
    window.fresh = []
  }

  /// The window ends, by a key or by a signal that it reads.
  func end(_ window: Window, keeping claims: SessionClaims? = nil) throws {
    pass()
    left.formUnion(window.kept.union(window.fresh))
    window.keeper.finish(SessionState.session(window.app.state), keeping: claims)
    windows.removeAll { $0 === window }
  }

  /// The window ends without a word.
  func kill(_ window: Window) {
    left.formUnion(window.kept)
    window.keeper.leave()
    windows.removeAll { $0 === window }
  }

  /// Lets time pass before something happens.
  private func pass() {
    now += 1000
    for window in windows { window.app.wait(milliseconds: 1000) }
  }

  private func forget(_ words: [String], _ window: Window) {
    window.fresh.subtract(words)
    window.kept.subtract(words)
  }

  /// Does something at random, and says what.
  func step(_ random: inout SeededRandom) throws -> String {
    guard let window = windows.randomElement(using: &random) else {
      _ = try start()
      return "start"
    }
    wordCount += 1
    let word = "w\(wordCount)."
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6:
      try type(word, window)
      return "type \(word)"
    case 6..<8:
      typeIntoForm(word, window)
      return "form \(word)"
    case 8..<10:
      try sendLine(window)
      return "send"
    case 10:
      emptyLine(window)
      return "empty"
    case 11..<15:
      try save(window)
      return "save"
    case 15:
      window.app.press("a Esc")
      return "look"
    case 16:
      try end(window)
      return "end"
    case 17:
      kill(window)
      return "kill"
    default:
      if windows.count < 3 { _ = try start() }
      return "start"
    }
  }

  // MARK: What must hold

  /// The texts in the file, of all windows.
  var texts: [String] {
    (file.read().session?.allTexts ?? []).flatMap(DraftDesk.texts).sorted()
  }

  /// The words that are in the file of all windows.
  private var wordsOnDisk: Set<String> {
    Set(DraftDesk.words(file.read().session?.allTexts ?? []))
  }

  /// What should be somewhere, and is not.
  var missing: [String] {
    let disk = wordsOnDisk
    let lost = windows.flatMap { window in
      window.fresh.union(window.kept).subtracting(window.words).map { "\($0) in its window" }
        + window.kept.subtracting(disk).map { "\($0) in the file" }
    }
    return (lost + left.subtracting(disk).map { "\($0) of a window that ended" }).sorted()
  }

  /// Ends all windows, starts one, and takes all up there; returns what must be offered, and what is.
  func offerAll() throws -> (words: Set<String>, offered: [String]) {
    for window in windows { try end(window) }
    let words = left
    let last = try start()
    var offered: [String] = []
    for _ in 0...Drafts.countMax {
      last.app.press("a")
      offered += DraftDesk.words(last.app.list.line.draft)
      last.app.press("C-u Esc")
    }
    offered += DraftDesk.words(SessionState.session(last.app.state).allTexts)
    return (words, offered)
  }

  private static func texts(_ kept: KeptTexts) -> [String] {
    kept.lines.values.joined().map(\.text) + kept.drafts.flatMap(\.texts).map(\.text)
  }

  private static func words(_ kept: [KeptTexts]) -> [String] {
    kept.flatMap(texts).flatMap { words($0) }
  }

  /// The words of a text; each ends with a dot, unless it is the only one.
  private static func words(_ text: String) -> [String] {
    let words = text.split(separator: ".").map { "\($0)." }
    return text.hasSuffix(".") ? words : text.isEmpty ? [] : [text]
  }
}
