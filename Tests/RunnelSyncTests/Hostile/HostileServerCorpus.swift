/// What clients may send and what has something to it, from which mutations begin.
///
/// What a fuzzer found stands here too. This file is read by the test suite and by the drivers in
/// `Tests/Fuzzing`, and so knows nothing of either.
enum HostileServerCorpus {
  /// Frames of WebSockets, each in a line.
  static let frames: [[UInt8]] = bytes([
    #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/list","q":{"i":"n","sp":1,"sin":true,"l":1,"vf":"r"},"t":1,"h":""}}}"#
      + "\n"
      + #"{"t":"d","d":{"r":2,"a":"m","b":{"p":"/list","d":{"k/n":5,"l":null,"z":{".sv":{"increment":1}}}}}}"#
      + "\n" + #"{"t":"d","d":{"r":3,"a":"n","b":{"p":"/list","q":{"i":"n","sp":1},"t":1}}}"#,
    #"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"user:ana:1735689603600"}}}"# + "\n"
      + #"{"t":"d","d":{"r":2,"a":"g","b":{"p":"/secret"}}}"# + "\n"
      + #"{"t":"d","d":{"r":3,"a":"unauth","b":{}}}"#,
    #"{"t":"d","d":{"r":1,"a":"o","b":{"p":"/a/b","d":{".value":1,".priority":"x"}}}}"# + "\n"
      + #"{"t":"d","d":{"r":2,"a":"oc","b":{"p":"/a"}}}"# + "\n0\n"
      + #"{"t":"c","d":{"t":"p","d":{}}}"#,
    "2\n" + #"{"t":"d","d":{"r":1,"a":"p","#
      + "\n"
      + #""b":{"p":"/a","d":{"x":[1,null,2]},"h":"AUZnXhNqrfbznYVxcCvNpzpjvTU=","w":["me",1]}}}"#,
    #"{"t":"d","d":{"r":1,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"bo"}}}}"# + "\n"
      + #"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/","h":"","ch":{"hs":["",""],"ps":["a"]}}}}"# + "\n"
      + #"{"t":"d","d":{"r":3,"a":"s","b":{"c":{"sdk.js":1}}}}"#,
  ])

  /// Pieces of messages, each in a line, after a byte that is a limit.
  static let pieces: [[UInt8]] = bytes([
    "@2\nab\ncd\n0\nxy", "\u{1}3\naaaaaaaa\nb", "ü🙂\n1\n000001\n7",
  ])

  /// Requests over HTTP: method and address, then the body.
  static let requests: [[UInt8]] = bytes([
    "GET /list.json?orderBy=%22n%22&startAt=1,%22k%22&limitToFirst=2&print=pretty",
    "GET /a.json?shallow=true&callback=f&download=x%22y&timeout=3s&format=export",
    "PUT /a/b.json?auth=user:ana\n{\"x\":{\".sv\":{\"increment\":1.5}},\".priority\":2}",
    "PATCH /.json?access_token=owner&auth_variable_override=%7B%22uid%22%3A%22a%22%7D\n{\"a/b\":1,\"list\":null}",
    "POST /list.json?x-http-method-override=DELETE\n\"\"", "GET /secret.json?auth=user:ana",
    "PUT /.settings/rules.json?dryRun=true&access_token=owner\n{\"rules\":{}}",
    "OPTIONS /%F0%9F%99%82/%2e.json", "DELETE /a.json?print=silent&writeSizeLimit=tiny",
  ])

  /// Tokens, or the texts of forms with one.
  static let tokens: [[UInt8]] = bytes([
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsifQ.eyJzdWIiOiJhIiwiaWF0IjoxfQ.AQID",
    "eyJhbGciOiJub25lIn0.eyJkIjp7InVpZCI6ImEifX0.",
    "grant_type=a%3Ab+c&assertion=x.y.z&&=&%41=%c3%bc",
  ])

  private static func bytes(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }
}
