import Glibc

/// Writes the texts of the corpus into files, from which the fuzzer begins: `write-corpus FOLDER`
/// makes `FOLDER/json/0` and so on.
@main
enum WriteCorpus {
  static func main() {
    let folder = CommandLine.arguments[1]
    mkdir(folder, 0o755)
    write(HostileCorpus.json, to: folder + "/json")
    write(HostileCorpus.nodes, to: folder + "/node")
    write(HostileCorpus.paths, to: folder + "/path")
    write(HostileCorpus.queries, to: folder + "/query")
    write(HostileRulesCorpus.files, to: folder + "/rules")
    write(HostileServerCorpus.frames, to: folder + "/frames")
    write(HostileServerCorpus.pieces, to: folder + "/pieces")
    write(HostileServerCorpus.requests, to: folder + "/request")
    write(HostileServerCorpus.tokens, to: folder + "/token")
  }

  private static func write(_ texts: [[UInt8]], to folder: String) {
    mkdir(folder, 0o755)
    for (index, text) in texts.enumerated() {
      guard let file = fopen("\(folder)/\(index)", "w") else {
        preconditionFailure("\(folder) cannot be written.")
      }
      fwrite(text, 1, text.count, file)
      fclose(file)
    }
  }
}
