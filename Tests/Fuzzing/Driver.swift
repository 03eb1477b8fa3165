/// Hands each text of the fuzzer to one reader, which is chosen when this is compiled.
///
/// A text for which something does not hold ends the process; the fuzzer keeps it in a file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let violation = violation(in: bytes) { fatalError(violation) }
  return 0
}

private func violation(in bytes: [UInt8]) -> String? {
  #if FUZZ_JSON
  HostileInput.violation(inJSON: bytes)
  #elseif FUZZ_NODE
  HostileInput.violation(inNode: bytes)
  #elseif FUZZ_PATH
  HostileInput.violation(inPath: bytes)
  #elseif FUZZ_FRAMES
  HostileServer.violation(inFrames: bytes)
  #elseif FUZZ_PIECES
  HostileServer.violation(inPieces: bytes)
  #elseif FUZZ_REQUEST
  HostileServer.violation(inRequest: bytes)
  #elseif FUZZ_TOKEN
  HostileToken.violation(inToken: bytes)
  #elseif FUZZ_RULES
  HostileRules.violation(inRules: bytes)
  #else
  HostileInput.violation(inQuery: bytes)
  #endif
}
