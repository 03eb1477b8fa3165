import RunnelBase
import RunnelServices
import Testing

/// The bodies of polls and the packets in them (specification, cases 22 to 27 and 33).
@Suite struct EngineCodecTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func text(_ packet: EnginePacket) -> String {
    packet.isBinary ? "binary \(packet.data)" : String(decoding: packet.text ?? [], as: UTF8.self)
  }

  @Test func theOpeningPacketHasItsFields() throws {
    let opening = try EngineOpening(
      bytes(
        """
        {"sid":"abc","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,\
        "maxPayload":1000000}
        """))
    #expect(opening.session == "abc" && opening.canUpgrade)
    #expect((opening.pingInterval, opening.pingTimeout) == (25000, 20000))
    #expect(opening.maxPayload == 1_000_000)
    #expect(throws: EngineError.self) { try EngineOpening(bytes("{\"sid\":1}")) }
  }

  @Test func packetsOfVersionFourAreSeparated() {
    let (packets, error) = EnginePayload.decoded(
      bytes("42[\"a\"]\u{1E}2\u{1E}43[null]\u{1E}bAQIDBA=="), .four)
    #expect(error == nil)
    #expect(packets.map(text) == ["42[\"a\"]", "2", "43[null]", "binary [1, 2, 3, 4]"])
    let damaged = EnginePayload.decoded(bytes("4a\u{1E}"), .four)
    #expect(damaged.packets.map(text) == ["4a"] && damaged.error != nil)
    #expect(EnginePayload.decoded([], .four).error != nil)
  }

  @Test func lengthsOfVersionThreeCountUTF16() throws {
    let packets = [
      try EnginePacket(text: bytes("2")),
      try EnginePacket(text: bytes("420[\"create\",\"m\",{\"t\":\"é😀\"},{}]")),
    ]
    let body = EnginePayload.encoded(packets, .three)
    #expect(
      String(decoding: body, as: UTF8.self) == "1:232:420[\"create\",\"m\",{\"t\":\"é😀\"},{}]")
    #expect(EnginePayload.decoded(body, .three).packets == packets)
  }

  @Test func theFormOfBytesIsRead() {
    let body: [UInt8] = [0, 2, 0xFF, 0x34, 0x30, 1, 4, 0xFF, 4, 1, 2, 3]
    let (packets, error) = EnginePayload.decoded(body, .three)
    #expect(error == nil)
    #expect(packets.map(text) == ["40", "binary [1, 2, 3]"])
    #expect(EnginePayload.version(of: body) == .three)
    #expect(EnginePayload.decoded([0, 2, 0xFF, 0x34], .three).error != nil)
    #expect(EnginePayload.decoded([0, 0x63], .three).error != nil)
  }

  @Test func bytesInTextOfVersionThreeAreRead() {
    let body = bytes("2:4041:461-2[null,{\"_placeholder\":true,\"num\":0}]6:b4AQID")
    let (packets, error) = EnginePayload.decoded(body, .three)
    #expect(error == nil)
    #expect(packets.count == 3 && packets.last.map(text) == "binary [1, 2, 3]")
    #expect(EnginePayload.encoded([EnginePacket(binary: [1, 2, 3])], .three) == bytes("6:b4AQID"))
  }

  @Test(arguments: [
    "24:421[\"users::find\",{\"a\":1}]", "x", "5", "9999999999999:4", ":4", "0:", "1:😀",
  ])
  func wrongLengthsAreErrors(body: String) {
    #expect(EnginePayload.decoded(bytes(body), .three).error != nil)
  }

  @Test(arguments: [
    ("0{\"sid\":1}", 4), ("95:0{\"sid\"", 3), ("<html>", 0), ("", 0), ("\"Invalid\"", 0),
    ("12", 0),
  ])
  func theVersionIsSeenFromTheBody(body: String, version: Int) {
    #expect(EnginePayload.version(of: bytes(body))?.rawValue ?? 0 == version)
  }

  /// Any packets are read as they were written, in both versions.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func whatIsWrittenIsReadBack(seed: UInt64) {
    var random = RandomQueries(seed: seed)
    let packets = (0..<random.number(1..<6)).map { _ in
      random.chance(4)
        ? EnginePacket(binary: (0..<random.number(0..<9)).map { UInt8($0 * 37 & 0xFF) })
        : EnginePacket(
          random.pick([.message, .ping, .noop]),
          bytes(random.text() + random.text().filter { $0 != "\u{1E}" }))
    }
    for version in [EngineVersion.three, .four] {
      let body = EnginePayload.encoded(packets, version)
      let (back, error) = EnginePayload.decoded(body, version)
      #expect(back == packets && error == nil, "seed \(seed), version \(version)")
    }
  }

  /// No body, however damaged, does more than fail.
  @Test func damagedBodiesAreErrorsOrPackets() {
    for seed in 0..<2000 as Range<UInt64> {
      var random = RandomQueries(seed: seed)
      let alphabet: [UInt8] = [0, 1, 2, 9, 0xFF, 0x1E] + bytes("0123:b4[]{}\",aé😀")
      let body = (0..<random.number(0..<24)).map { _ in random.pick(alphabet) }
      for version in [EngineVersion.three, .four] {
        for packet in EnginePayload.decoded(body, version).packets where packet.kind == .message {
          _ = try? SocketPacket(packet.data)
        }
      }
      _ = EnginePayload.version(of: body)
    }
  }
}

@Suite struct SocketPacketTests {
  private func packet(_ text: String) throws -> SocketPacket { try SocketPacket(Array(text.utf8)) }

  @Test func packetsAreReadAsTheyAreWritten() throws {
    let cases: [(String, SocketPacket)] = [
      ("0", SocketPacket(.connect)),
      ("0{\"sid\":\"x\"}", SocketPacket(.connect, payload: ["sid": "x"])),
      (
        "3/admin,12[null,{\"a\":[1]}]",
        SocketPacket(.acknowledge, namespace: "/admin", id: 12, payload: [nil, ["a": [1]]])
      ),
      ("35[]", SocketPacket(.acknowledge, id: 5, payload: [])),
      ("212[\"foo\"]", SocketPacket(.event, id: 12, payload: ["foo"])),
      ("2[\"5\"]", SocketPacket(.event, payload: ["5"])),
      ("2/a?b=1,[\"x\"]", SocketPacket(.event, namespace: "/a?b=1", payload: ["x"])),
      ("0/admin,", SocketPacket(.connect, namespace: "/admin")), ("1", SocketPacket(.disconnect)),
      ("3", SocketPacket(.acknowledge)), ("21", SocketPacket(.event, id: 1)),
      ("4\"jwt expired\"", SocketPacket(.refusal, payload: "jwt expired")),
      (
        "51-[\"f\",{\"_placeholder\":true,\"num\":0}]",
        SocketPacket(
          .binaryEvent, payload: ["f", ["_placeholder": true, "num": 0]], attachmentCount: 1)
      ),
    ]
    for (text, expected) in cases {
      #expect(try packet(text) == expected, "\(text)")
      #expect(String(decoding: expected.text, as: UTF8.self) == text)
    }
  }

  @Test(arguments: [
    "", "9", "2[]", "2[\"connect\"]", "2[null]", "2{\"a\":1}", "3{\"a\":1}", "2[\"a\"", "5[\"a\"]",
    "511-[\"a\"]", "5-[\"a\"]",
  ])
  func whatBreaksTheRulesIsAnError(text: String) {
    #expect(throws: EngineError.self) { try packet(text) }
  }
}
