import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Servers' databases with names, in the configuration.
@Suite struct OriginProfilesTests {
  private func read(_ yaml: String) -> ConfigurationFile {
    ConfigurationFile(yaml: yaml, name: "/home/zoe/.config/runnel/config.yaml")
  }

  @Test func profilesNameServersDatabases() throws {
    let file = read(
      """
      origins:
        prod:
          url: https://chat.example.com/rooms?ns=main
          token-file: ~/token
          read-only: true
          confirm: true
          color: red
          views: prod.views.yaml
          cache: 2 GB
          keep: /settings, /users
          rules: prod.rules.json
        local: { url: "http://localhost:9000/?ns=test" }
      """)
    #expect(file.problems == [])
    #expect(file.origins.names == ["local", "prod"])
    let prod = try #require(try file.origins.profile(named: "prod"))
    #expect(["chat.example.com", "main", "rooms"].allSatisfy("\(prod.address)".contains))
    #expect(prod.tokenFile?.hasSuffix("/token") == true && prod.tokenFile?.hasPrefix("~") == false)
    #expect(prod.mark == ProfileMark("prod", color: .red, confirms: true, isReadOnly: true))
    #expect(prod.views == "/home/zoe/.config/runnel/prod.views.yaml")
    #expect(prod.cacheBytesMax == 2_000_000_000)
    #expect(prod.keep.map(\.description) == ["/settings", "/users"])
    #expect(prod.rulesFile == "/home/zoe/.config/runnel/prod.rules.json")
    let local = try #require(try file.origins.profile(named: "local"))
    #expect(local.mark == ProfileMark("local"))
    #expect(try file.origins.profile(named: "other") == nil)
  }

  @Test(arguments: [
    ("{ url: x }", "is not the address of a server"), ("{ color: red }", "`url` is missing"),
    ("{ url: \"https://h/?ns=a\", read-onyl: true }", "did you mean `read-only`?"),
    ("{ url: \"https://h/?ns=a\", read-only: yes please }", "is true or false"),
    ("{ url: \"https://h/?ns=a\", color: rde }", "did you mean `red`?"),
    ("{ url: \"https://h/?ns=a\", cache: much }", "a number of bytes"),
    ("{ url: \"https://h/?ns=a&auth=b\" }", "only ns="),
    ("{ url: \"https://h/?ns=a\", keep: \"/a, /b.c\" }", "`keep` is a list of paths"),
    ("{ url: \"feathers+https://h\", rules: a.json }", "has no place for `rules`"),
  ])
  func profileWithAMistakeCannotBeUsed(yaml: String, message: String) throws {
    let file = read("origins:\n  prod: \(yaml)\n")
    #expect(file.problems.count == 1)
    #expect(file.problems.first?.message.contains(message) == true, "\(file.problems)")
    #expect(file.problems.first?.line == 2)
    #expect(file.origins.names == ["prod"])
    #expect(throws: ConfigurationError.self) { try file.origins.profile(named: "prod") }
  }

  @Test func nameOfAProfileCannotBeTakenForAPath() {
    #expect(["a", "prod", "eu-1", "b_2"].allSatisfy { OriginProfile.isName($0) })
    #expect(!["", "1a", "a.db", "a/b", "a:", "-a", "a b"].contains { OriginProfile.isName($0) })
    #expect(read("origins: { a.b: { url: \"https://h/?ns=a\" } }").problems.count == 1)
  }

  @Test func sizesAreReadAsPeopleWriteThem() {
    #expect(ByteSize.bytes("500MB") == 500_000_000)
    #expect(ByteSize.bytes("10 kB") == 10_000)
    #expect(ByteSize.bytes("7") == 7)
    #expect(ByteSize.bytes("99999999999999GB") == nil)
    #expect(["", "MB", "-1", "1.5GB", "1TB", "1 2"].allSatisfy { ByteSize.bytes($0) == nil })
  }
}
