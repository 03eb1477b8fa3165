import Foundation
import TestSupport
import Testing

/// The workspace on a server of services that was written by others.
@Suite(
  .enabled("pip reaches the packages of the servers", { ServicePeer.isThere }),
  .timeLimit(.minutes(2)))
struct ServiceWorkspaceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var environment: String {
    ["DATA", "CONFIG", "STATE"].map { "XDG_\($0)_HOME='\(folder.path)'" }.joined(separator: " ")
  }

  private func create(_ peer: ServicePeer, _ service: String, _ texts: [String]) throws {
    for text in texts {
      let made = try Program.run([
        "service", "create", "http://127.0.0.1:\(peer.port)", service, "{\"text\":\"\(text)\"}",
      ])
      try #require(made.status == 0, "\(made.errors)")
    }
  }

  @Test func serverWithoutSocketIOIsAskedOverREST() throws {
    let peer = try ServicePeer(.five, isRESTOnly: true)
    try create(peer, "messages", ["one", "two"])
    let terminal = try TmuxTerminal()
    try terminal.runnel(
      ["open", "feathers+http://127.0.0.1:\(peer.port)/messages", "--no-session"],
      before: environment)
    try terminal.wait("the records with their column") {
      $0.contains("one") && $0.contains("two") && $0.contains("text")
        && $0.contains("◌ over REST") && !$0.contains("● live")
    }
  }

  /// As while a proxy has no way to it.
  @Test func socketIOThatComesLaterIsFound() throws {
    var peer = try ServicePeer(.five, isRESTOnly: true)
    let port = peer.port
    try create(peer, "messages", ["one"])
    let terminal = try TmuxTerminal()
    try terminal.runnel(
      ["open", "feathers+http://127.0.0.1:\(port)/messages", "--no-session"],
      before: environment)
    try terminal.wait(for: "◌ over REST")
    try peer.kill()
    peer = try ServicePeer(.five, port: port)
    try terminal.wait(for: "● live")
    try create(peer, "messages", ["another"])
    try terminal.wait(for: "another")
  }

  /// And back again.
  @Test func lostSocketIOIsReplacedByREST() throws {
    var peer = try ServicePeer(.five)
    let port = peer.port
    try create(peer, "messages", ["one"])
    let terminal = try TmuxTerminal()
    try terminal.runnel(
      ["open", "feathers+http://127.0.0.1:\(port)/messages", "--no-session"],
      before: environment)
    try terminal.wait("the record") { $0.contains("one") && $0.contains("● live") }
    try peer.kill()
    peer = try ServicePeer(.five, port: port, isRESTOnly: true)
    try terminal.wait(for: "◌ over REST", seconds: 30)
    // Nothing tells of it.
    try create(peer, "messages", ["over there"])
    try terminal.keys("R")
    try terminal.wait(for: "over there")
    try peer.kill()
    peer = try ServicePeer(.five, port: port)
    try terminal.wait(for: "● live", seconds: 30)
  }

  @Test func refusedListShowsWhatTheServerSaid() throws {
    let peer = try ServicePeer(.five)
    try check(mkdir(folder.file("runnel"), 0o700), "mkdir")
    _ = try folder.write(
      """
      origins:
        shop: { url: "feathers+http://127.0.0.1:\(peer.port)", services: "secret, shop/nothing" }
      """, to: "runnel/config.yaml")
    let terminal = try TmuxTerminal(columns: 100)
    try terminal.runnel(["open", "shop", "--no-session"], before: environment)
    try terminal.wait("the words of the server") {
      $0.contains("The server says: Not authenticated (NotAuthenticated): sign in")
        && !$0.contains("permission") && !$0.contains("somebody else")
    }
    try terminal.keys("g", "2")
    try terminal.wait("those about the other service") {
      $0.contains("✗ shop/nothing: Service 'shop/nothing' not found")
    }
  }

  /// The processes share a file, and the first speaks for both.
  @Test func secondWindowShowsAServiceWhosePathHasASlash() throws {
    let peer = try ServicePeer(.five)
    try create(peer, "messages", ["one"])
    try create(peer, "shop/orders", (1...15).map { "order \($0 + 100)" })
    try check(mkdir(folder.file("runnel"), 0o700), "mkdir")
    _ = try folder.write(
      """
      views:
        - { name: Messages, path: /messages, columns: [{ field: text }] }
        - { name: Orders, path: /shop/orders, order: text, page: 5, columns: [{ field: text }] }
      """, to: "runnel/shop.yaml")
    _ = try folder.write(
      """
      origins:
        shop:
          url: feathers+http://127.0.0.1:\(peer.port)
          services: messages, shop/orders
          views: shop.yaml
      """, to: "runnel/config.yaml")
    let (first, second) = (try TmuxTerminal(), try TmuxTerminal())
    try first.runnel(["open", "shop", "--no-session"], before: environment)
    try first.wait("the first window") { $0.contains("one") && $0.contains("● live") }
    try second.runnel(
      ["open", "shop", "--view", "Orders", "--no-session"], before: environment)
    try second.wait("the first page in the second window") {
      $0.contains("order 105") && $0.contains("● live") && $0.contains("5 loaded, more below")
        && $0.contains("/shop/orders")
    }
    let homes = ["DATA", "CONFIG", "STATE"].map { ("XDG_\($0)_HOME", folder.path) }
    let status = try Program.run(
      ["sync", "status"], environment: Dictionary(uniqueKeysWithValues: homes))
    #expect(status.output.contains("\"linked\":true"), "\(status.output)")
    try second.keys("g", "m")
    try second.wait(for: "order 110")
  }
}
