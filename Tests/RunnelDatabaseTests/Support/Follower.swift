import RunnelBase
import RunnelDatabase
import RunnelStreams

/// A list that follows updates by their coordinates alone.
final class Follower {
  private(set) var shown: [SectionIDs] = []
  private(set) var mistakes: [String] = []

  func take(_ update: ListUpdate<Record>) {
    let new = update.sectionIDs
    if let mistake = update.update.mistake(from: shown, to: new) { mistakes.append(mistake) }
    shown = update.update.replayed(on: shown, to: new) ?? []
  }
}
