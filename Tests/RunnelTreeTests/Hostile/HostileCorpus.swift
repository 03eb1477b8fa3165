/// Texts that have something to them, from which mutations begin.
///
/// What a fuzzer found stands here too, as the bytes that it found. This file is read by the test
/// suite and by the drivers in `Tests/Fuzzing`, and so knows nothing of either.
enum HostileCorpus {
  /// JSON, or nearly.
  static let json: [[UInt8]] = bytes(jsonTexts) + illFormed

  /// JSON in which the tree finds meaning, or nearly.
  static let nodes: [[UInt8]] = bytes(nodeTexts)

  /// Paths, or nearly.
  static let paths: [[UInt8]] = bytes(pathTexts) + illFormed

  /// What clients send as a query, or nearly.
  static let queries: [[UInt8]] = bytes(queryTexts)

  private static func bytes(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  private static func nested(
    _ open: String, _ inner: String, _ close: String, _ count: Int
  ) -> String {
    String(repeating: open, count: count) + inner + String(repeating: close, count: count)
  }

  private static let jsonTexts = [
    "", " ", "null", "true", "false", "0", "-0", "1.5", "1e400", "-1e-400", "0.1e+1", "01", "+1",
    "1.", ".5", "--1", "1e", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "123456789012345678901234567890", "1e99999999999999999999", "0.00000000000000000000000000001",
    "17976931348623157e292", "2.2250738585072011e-308", "NaN", "Infinity", "nul", "truefalse",
    #""""#, #""a""#, #""\u0000\b\f\n\r\t\/\\\"""#, #""\uD83D\uDE00""#, #""\uD83D""#, #""\uDE00""#,
    #""\uD83D\u0041""#, #""\u12G4""#, #""\x""#, "\"\u{7F}\u{80}\u{7FF}\u{FFFF}\u{10FFFF}\"",
    "\"\u{1}\"", "\"unterminated", #""ends in \"#, "[]", "{}", "[1,2,]", "[1 2]", "[,]",
    #"{"a":1,"a":2}"#, #"{"a":1,"b":2,"a":3,"c":4}"#, #"{"a" 1}"#, #"{"a":}"#, #"{a:1}"#,
    #"{"a":1,}"#, "[[[[[[[[1]]]]]]]]", " \t\r\n[ 1 , { \"a\" : null } ] \n", "1 2", "[1]]",
    "\u{FEFF}1", "{\"e\u{301}\":1,\"\u{E9}\":2}",
    #"{"i":1,"h":1,"g":1,"f":1,"e":1,"d":1,"c":1,"b":1,"a":1,"e":2}"#,
    nested("[", "1", "]", 512), nested("[", "1", "]", 513), nested(#"{"a":"#, "1", "}", 512),
    nested("[", "", "", 600), nested("{\"a\":[", "0", "]}", 40),
  ]

  private static let nodeTexts = [
    "null", "7", #"{"a":1}"#, #"[1,null,[2],{"b":3}]"#, #"{".value":1,".priority":"p"}"#,
    #"{".value":null,".priority":1}"#, #"{".value":1,"a":2}"#, #"{".value":{"a":1}}"#,
    #"{"a":1,".priority":2}"#, #"{"a":1,".priority":true}"#, #"{".sv":"timestamp"}"#,
    #"{".sv":{"increment":1}}"#, #"{".priority":{".sv":"timestamp"},"a":1}"#, #"{"a.b":1}"#,
    #"{"":1}"#, #"{"a/b":1}"#, #"{"a\u0000":1}"#, #"{".other":1}"#, #"{"a":{},"b":[],"c":null}"#,
    #"{"10":1,"9":2,"01":3,"-0":4,"2147483648":5,"a":6}"#, #"{"a":1,"a":null}"#,
    #"{"a":{"b$":1},"a":2}"#, #"{".value":1,".value":null,"a":1}"#,
    #"{".priority":1,".priority":null,"a":[{".value":"x"}]}"#, "{\"e\u{301}\":1,\"\u{E9}\":2}",
    // A place whose text begins with a slash and a combining mark, which are one character.
    "{\"\u{301}a\":[{\"\":1}]}",
    nested(#"{"a":"#, "1", "}", 32), nested(#"{"a":"#, "1", "}", 33), nested("[", "1", "]", 33),
    "{\"" + String(repeating: "k", count: 768) + "\":1}",
    "{\"" + String(repeating: "k", count: 769) + "\":1}",
    "{\"" + String(repeating: "k", count: 384) + "\":{\"" + String(repeating: "k", count: 384)
      + "\":1}}",
  ]

  private static let pathTexts = [
    "", "/", "//", "a", "/a/b/c", "//a///b/", "a.b", "a/$b", "#", "[a]", "a/\u{301}b",
    "\u{1F600}/é",
    "/.priority", "a/.priority", ".priority/a", ".info/connected", "a/\u{7F}", "a\u{0}b", "-/01/-0",
    nested("/k", "", "", 32), nested("/k", "", "", 33), String(repeating: "k", count: 768),
    String(repeating: "k", count: 769), String(repeating: "é", count: 384) + "/a",
    "2147483647", "-2147483648", "-02147483648", "z", "-", "1-", String(repeating: "z", count: 768),
  ]

  private static let queryTexts = [
    "{}", #"{"ein":true,"ep":5,"i":"score","l":2,"sin":true,"sp":5,"vf":"r"}"#, #"{"i":".key"}"#,
    #"{"ein":false,"en":"k","ep":9,"i":".value","sin":false,"sn":"[MAX_NAME]","sp":5}"#,
    #"{"sin":true,"sp":null}"#, #"{"i":".key","sp":"[MIN_NAME]","ep":"[MAX_NAME]"}"#,
    #"{"i":".key","sp":"[MAX_NAME]","ep":"[MIN_NAME]"}"#, #"{"i":"a/b","l":1}"#, #"{"l":0}"#,
    #"{"vf":"l"}"#, #"{"sp":{}}"#, #"{"i":".priority","sp":"x","sn":"y"}"#, #"{"l":1e300}"#,
    #"{"i":".key","ep":"abb"# + String(repeating: "z", count: 783) + #""}"#,
    #"{"i":".key","ep":"ab"# + String(repeating: "\u{FFFF}", count: 300) + #""}"#,
    #"{"hs":["",""],"ps":["a/.priority"]}"#, #"{"hs":["x","y","z"],"ps":["/","b"]}"#,
    #"{"hs":[""],"ps":[]}"#,
  ]

  /// Bytes that are no UTF-8, alone and in a string.
  private static let illFormed: [[UInt8]] = [
    [0x80], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
    [0xF0, 0x9F, 0x98], [0xFF, 0xFE], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
    [0x22, 0xF0, 0x9F, 0x98, 0x80, 0x22], [0xEF, 0xBB, 0xBF, 0x31], [0x00], [0x22, 0x00, 0x22],
  ]
}
