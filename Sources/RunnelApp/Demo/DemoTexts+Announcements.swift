extension DemoTexts {
  /// Conversations of the main group whose first turn an organizer pins, from the oldest.
  // tidy:table
  static let announcements: [(place: Double, script: String)] = [
    (
      0.015,
      """
      george: Welcome to this group, and please read this once: the gate is shut after sunset, \
      always, also if you're 'only five minutes'. Water is for plants, not for cars. Dogs on a \
      lead. Music in your ears, not in everyone's. If something breaks, say so here, nobody will \
      be cross. The rest is on the notice board. George
      A: Thank you George. May I put the bit about the gate on a sign?
      george: Please do. Big letters.
      """
    ),
    (
      0.13,
      """
      priya: New watering rota is up: odd plots Monday, Wednesday and Friday, even plots Tuesday, \
      Thursday and Saturday, Sunday is for those who forgot. Pressure is poor between 18:00 and \
      19:30, so mornings are better. 💧
      A: I'm plot {plotA}, so that's me today then.
      B: Finally a rota I can remember.
      """
    ),
    (
      0.27,
      """
      zoe: Open day on {day} week, from 10:00 to 16:00! We need cake, tables, people to show \
      visitors around, and someone brave for the face painting. Write here what you bring. I've a \
      list and I'm not afraid to use it.
      A: Carrot cake, with carrots from {plotA}.
      B: Two trestle tables and a tablecloth with only one stain.
      zoe: You're wonderful. Still missing: the brave one.
      C: Fine. I'll do the faces. Everyone will be a tiger.
      """
    ),
    (
      0.40,
      """
      chidi: Please note: the council sprays the railway bank on {day} morning. Keep children, \
      hens and laundry away until noon and close your greenhouse vents. I asked them to stop two \
      metres before our hedge, and they said yes.
      A: Thank you for asking them. Hens informed.
      """
    ),
    (
      0.55,
      """
      noor: Rent for the coming year is due by the end of next month. Same as last year: 48 for a \
      full plot, 26 for a half. If that's difficult at the moment, write to me privately, we \
      always find a way. Noor
      A: Paid. Thank you for keeping the books, Noor.
      B: Will do on {day}!
      """
    ),
    (
      0.71,
      """
      aisling: The new key box is on the left of the shed door. I send the code to each of you \
      privately, please don't post it here. After {day} the old key no longer works, bring it \
      back to me or drop it in the letter box of the hut.
      A: End of an era. I've had that key for {many} years.
      aisling: Then keep it and hang it over the fireplace, {A}. Officially I never said that.
      """
    ),
    (
      0.965,
      """
      ilse: Work party on {day}, {time} at the hut: hedge, paths, and the roof before the weather \
      turns. Bring gloves and a mug. Soup for everyone, with and without meat. If you can't come, \
      an hour on another day is as good.
      A: I'm in, with loppers.
      B: Me from eleven.
      C: Soup and a big ladle are coming with me.
      ilse: {n} people already, at this rate we'll be done before lunch!
      """
    ),
    (
      0.986,
      """
      lukasz: Water will be OFF on {day} from 8:00 to about 14:00, new meter. Please fill your \
      cans the evening before, and leave the taps closed, or else the first one here in the \
      afternoon gets a fountain. Łukasz
      A: Remember what happened the last time? My hat was found in the brook.
      B: Filling everything that holds water, including the wheelbarrow.
      lukasz: 👍
      """
    ),
  ]
}
