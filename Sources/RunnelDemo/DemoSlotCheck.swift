/// Finds texts whose slots `DemoSlots` could not fill.
struct DemoSlotCheck {
  let words: [String: [String]]
  let people: [DemoPerson]

  /// The problem of a text; nil if it can be filled, whatever is chosen.
  func problem(in template: Substring) -> String? {
    if template.isEmpty { return "nothing is said" }
    return problemOfPart(template)
  }

  private func problemOfPart(_ template: Substring) -> String? {
    var rest = template
    while let mark = rest.firstIndex(where: { "{}[]".contains($0) }) {
      guard let close: Character = ["{": "}", "[": "]"][rest[mark]] else {
        return "'\(rest[mark])' closes nothing"
      }
      guard let end = rest[mark...].firstIndex(of: close) else {
        return "'\(rest[mark])' is not closed"
      }
      let inner = rest[rest.index(after: mark)..<end]
      if let problem = close == "}" ? problem(ofSlot: inner) : problem(ofChoice: inner) {
        return problem
      }
      rest = rest[rest.index(after: end)...]
    }
    return nil
  }

  private func problem(ofChoice inner: Substring) -> String? {
    for choice in inner.split(separator: "|", omittingEmptySubsequences: false) {
      if let problem = problemOfPart(choice) { return problem }
    }
    return nil
  }

  private func problem(ofSlot slot: Substring) -> String? {
    if slot.contains(where: { "{[]".contains($0) }) { return "a slot has a bracket in it" }
    if DemoSlots.computed.contains(String(slot)) || slot.contains("/") { return nil }
    if DemoSlots.part(of: slot) != nil { return nil }
    // A second vegetable must differ from the first.
    if slot == "veg2", Set(words["veg", default: []]).count > 1 { return nil }
    return words[String(slot)] == nil ? "nothing fills the slot '\(slot)'" : nil
  }
}
