import Foundation
import TestSupport
import Testing

/// The workspace on a server's database.
@Suite(.timeLimit(.minutes(5))) struct TerminalOriginTests {
  @Test func theServersDataIsShownLiveAndOffline() throws {
    let database = try TestDatabase("{\"greeting\":\"hello\"}")
    let served = try Served([database.file, "--emulator"])
    let url = "http://localhost:\(served.port)/?ns=test"
    let terminal = try TmuxTerminal()
    try terminal.runnel(
      ["open", url, "--no-session"], before: "XDG_DATA_HOME='\(database.folder.path)'")
    try terminal.wait(for: "greeting")
    try terminal.wait(for: "live")
    _ = try served.client().request("PUT", "/another.json", "1")
    try terminal.wait(for: "another")
    try served.program.send(SIGKILL)
    _ = try served.program.wait()
    try terminal.wait(for: "offline since")
    let again = try Served([database.file, "--emulator"], listen: "localhost:\(served.port)")
    try terminal.wait(for: "live")
    _ = try again.client().request("PUT", "/third.json", "1")
    try terminal.wait(for: "third")
  }
}
