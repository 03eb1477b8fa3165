import Foundation
import TestSupport
import Testing

/// The devices of a user in two workspaces, at a server with accounts and rules.
@Suite(.timeLimit(.minutes(5))) struct TerminalDevicesTests {
  private static let rules = """
    {"rules":{
      "greeting":{".read":"auth !== null"},
      "presence":{".read":"auth !== null",".write":"auth !== null"},
      "user-devices":{"$user":{".read":"auth.uid === $user",".write":"auth.uid === $user"}}
    }}
    """

  private let database: TestDatabase
  private let served: Served
  private let serverArguments: [String]

  init() throws {
    database = try TestDatabase("{\"greeting\":{\"a\":{\"n\":1},\"b\":{\"n\":2}}}")
    let rules = try database.folder.write(Self.rules, to: "test.rules.json")
    serverArguments = [
      database.file, "--accounts", database.folder.file("accounts.db"), "--rules", rules,
      "--name", "test", "--issuer", "http://localhost:9000",
    ]
    served = try Served(serverArguments)
    try FileManager.default.createDirectory(
      atPath: database.folder.file("config/runnel"), withIntermediateDirectories: true)
    _ = try database.folder.write(
      """
      origins:
        chat:
          url: http://localhost:\(served.port)/?ns=test
          devices: /user-devices
          presence: /presence
          views: chat.views.yaml
      """, to: "config/runnel/config.yaml")
    _ = try database.folder.write(
      "views: [{ name: Greetings, path: /greeting, columns: [{ field: n }] }]",
      to: "config/runnel/chat.views.yaml")
  }

  /// The variables of a device: each has a state folder, and replicas, of its own.
  private func environment(_ device: String) -> [String: String] {
    [
      "XDG_STATE_HOME": database.folder.file("\(device)/state"),
      "XDG_DATA_HOME": database.folder.file("\(device)/data"),
      "XDG_CONFIG_HOME": database.folder.file("config"),
    ]
  }

  private func open(_ device: String, isNew: Bool, isKnown: Bool = false) throws -> TmuxTerminal {
    let environment = environment(device)
    let signedIn = try Program.run(
      ["login", "chat", "--email", "ana@x.org", "--password-file", "-"]
        + (isNew ? ["--sign-up"] : []), input: "correct horse\n", environment: environment)
    #expect(signedIn.status == 0, "\(signedIn.errors)")
    let terminal = try TmuxTerminal(columns: 110)
    let words = environment.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
    try terminal.runnel(["open", "chat"], before: words)
    if !isKnown {
      let greeting = "Any key closes this"
      try terminal.wait(for: greeting)
      try terminal.keys("Escape")
      try terminal.wait(forNo: greeting)
    }
    try terminal.wait(for: "● live")
    return terminal
  }

  /// Runs a command on a device.
  private func run(
    _ device: String, _ arguments: String..., input: String = ""
  ) throws -> Program.Outcome {
    try Program.run(arguments, input: input, environment: environment(device))
  }

  @Test func aDeviceThatSignsOutOfflineIsRemovedByTheNextWorkspace() throws {
    let desk = try open("desk", isNew: true)
    try desk.keys("g", "D")
    try desk.wait("this device") { $0.contains("Your devices") && $0.contains("here") }
    try desk.keys("C-g", "q")
    try desk.wait(for: TmuxTerminal.prompt)
    let login = try run(
      "phone", "login", "chat", "--email", "ana@x.org", "--password-file", "-",
      input: "correct horse\n")
    #expect(login.status == 0, "\(login.errors)")
    let words = try run("phone", "whoami", "chat").output.split(separator: "\"")
    let user = String(try #require(words.count > 3 ? words[3] : nil))
    let list = "/user-devices/\(user)"
    #expect(try run("phone", "get", list, "-d", "chat").output.contains("deviceId"))
    try served.program.send(SIGTERM)
    _ = try served.program.wait()
    let logout = try run("desk", "logout", "chat")
    #expect(logout.status == 0, "\(logout.errors)")
    #expect(logout.errors.contains("the next workspace removes this device"))
    #expect(try run("desk", "whoami", "chat").status == 1)
    let again = try Served(serverArguments, listen: "localhost:\(served.port)")
    let kept = try run("phone", "get", list, "-d", "chat")
    #expect(kept.output.contains("deviceId"), "\(kept.output) \(kept.errors)")
    try desk.runnel(
      ["open", "chat"],
      before: environment("desk").map { "\($0)='\($1)'" }.sorted().joined(separator: " "))
    try desk.wait(for: "not signed in")
    var isThere = true
    for _ in 0..<1000 where isThere {
      isThere = try run("phone", "get", list, "-d", "chat").output.contains("deviceId")
    }
    #expect(!isThere)
    try desk.keys("q")
    try desk.wait(for: TmuxTerminal.prompt)
    try again.program.send(SIGTERM)
  }

  @Test func commandsOfARevokedDeviceAreRefusedUntilANewSignIn() throws {
    let login = ["login", "chat", "--email", "ana@x.org", "--password-file", "-"]
    let made = try Program.run(
      login + ["--sign-up"], input: "correct horse\n", environment: environment("phone"))
    #expect(made.status == 0, "\(made.errors)")
    let words = try run("phone", "whoami", "chat").output.split(separator: "\"")
    let user = String(try #require(words.count > 3 ? words[3] : nil))
    // What a workspace leaves that put the device into the list.
    let (device, state) = ("0123456789abcdefghij", "phone/state/runnel")
    try FileManager.default.createDirectory(
      atPath: database.folder.file("\(state)/devices"), withIntermediateDirectories: true)
    _ = try database.folder.write(device + "\n", to: "\(state)/device")
    _ = try database.folder.write(
      user + "\n", to: "\(state)/devices/http_3a_2f_2flocalhost_3a\(served.port)")
    #expect(try run("phone", "get", "/greeting/a/n", "-d", "chat").output == "1\n")
    let mark = "/user-devices/\(user)/deviceStates/\(device)/revoked"
    let time = Int64(Date().timeIntervalSince1970 * 1000) + 5000
    #expect(try run("phone", "set", mark, "\(time)", "-d", "chat").status == 0)
    // By the address, too, for which the profile is found.
    let url = "http://localhost:\(served.port)/?ns=test"
    for command in [["whoami", url, "--check"], ["get", "/greeting/a/n", "-d", "chat"]] {
      let refused = try Program.run(command, environment: environment("phone"))
      #expect(refused.status == 1 && refused.output.isEmpty, "\(command)")
      #expect(refused.errors.contains("This device was revoked"), "\(refused.errors)")
      #expect(refused.errors.contains("runnel login"), "\(refused.errors)")
    }
    let again = try Program.run(
      login, input: "correct horse\n", environment: environment("phone"))
    #expect(again.status == 0, "\(again.errors)")
    #expect(try run("phone", "get", "/greeting/a/n", "-d", "chat").output == "1\n")
  }

  @Test func aNewDeviceIsToldRenamedAndRevokedAndThenSignsOut() throws {
    let desk = try open("desk", isNew: true)
    try desk.keys("g", "D")
    try desk.wait("this device") { $0.contains("Your devices") && $0.contains("here") }
    let phone = try open("phone", isNew: false)
    try desk.wait("the new device") {
      $0.contains("a new device signed in") && $0.contains("online")
    }
    try desk.keys("j", "e")
    try desk.wait(for: "Rename the device")
    try desk.keys("C-u")
    try desk.type("Pocket")
    try desk.keys("Enter")
    try desk.wait("the new name") {
      $0.contains("Pocket") && !$0.contains("Rename the device")
    }
    try phone.keys("g", "D")
    try phone.wait(for: "Pocket")
    try desk.keys("d")
    try desk.sayYes(to: "Revoke the device")
    try desk.wait("the list without it") {
      !$0.contains("Pocket") && $0.contains("Your devices") && $0.contains("here")
    }
    // Its data is not shown any more, also by the next run. Its reason is not hidden by what follows.
    try phone.wait("the end of the session, and why") {
      $0.contains("not signed in") && !$0.contains("Your devices")
        && $0.contains("This device was revoked")
    }
    try phone.keys("A")
    try phone.wait(for: "this device was revoked")
    try phone.keys("C-g")
    try phone.wait(forNo: "Accounts for this database")
    try phone.keys("q")
    try phone.wait(for: TmuxTerminal.prompt)
    let nobody = try run("phone", "whoami", "chat")
    #expect(nobody.status == 1 && nobody.errors.contains("revoked"), "\(nobody.errors)")
    // It comes back by a new sign-in.
    let again = try open("phone", isNew: false, isKnown: true)
    try desk.wait(for: "a new device signed in")
    try again.keys("q")
    try again.wait(for: TmuxTerminal.prompt)
    try desk.keys("C-g", "q")
    try desk.wait(for: TmuxTerminal.prompt)
  }
}
