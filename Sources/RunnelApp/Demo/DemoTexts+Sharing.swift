extension DemoTexts {
  /// Conversations about water, tools, seeds and what there is too much of.
  // tidy:table
  static let sharing = [
    """
    A: {greeting} all, who is on the watering rota for {day}? The sheet in the shed [got wet|is \
    unreadable again|has a coffee ring where the name should be].
    O: Should be {B} and me. I'll take the polytunnel if {B} does the {seedling} beds.
    B: Fine by me. I can be there at {time}.
    A: Thank you both. The water butt behind {plotA} is full, so no need to drag the hose.
    B: [Good to know|Even better], that hose has a mind of its own.
    O: Done then. I'll write the new sheet in pencil this time. And put it in a plastic sleeve.
    """,
    """
    A: Swap with anyone for my watering turn on {day}? [Dentist|Parents' evening|My sister is \
    visiting|Working late], can't get out of it.
    B: I could do {day} if you take mine on {day2}.
    A: Deal. {day2} it is.
    B: Anything special at your end?
    A: Only the {veg} in the cold frame, they sulk if they dry out. Half a can each, not on the \
    leaves.
    B: Got it 👍
    """,
    """
    A: Has anybody seen my {tool}? I left it {place} on {yesterday}, blue tape round the handle.
    B: There's one with blue tape leaning against the shed. [Looks well loved.|Rusty at the tip?]
    A: That's the one! Thank you {B}.
    C: Sorry, that was me. I borrowed it to get a root out and then forgot which plot it came from.
    A: No harm done. Did you get the root out?
    C: Half of it. The other half is [in Australia by now|holding the site together, I think].
    """,
    """
    A: I have {many} {seedling} seedlings too many. Strong little things, they just need a home \
    by {day}.
    B: Could I have {n}?
    C: And {n2} for me please, the slugs had all of mine.
    A: {B} {n}, {C} {n2}. They're in trays on the bench {place}, your names on lolly sticks.
    D: Any left? I only saw this now.
    A: There are always some left, {D}. Take what's in the green tray.
    D: You're a star, thank you. I'll bring you {jam} in return.
    """,
    """
    A: Seed swap idea: a table in the hall on {day} afternoon, bring what you saved, take what \
    you like. No money, no fuss.
    B: Love it. I've got {veg}, {veg2} and about a bucket of poppy seed.
    C: Please label them this time. Last year I grew 'mystery envelope' and it was a \
    [dock|thistle|very healthy nettle].
    B: 😂 guilty
    D: I can bring envelopes and pens.
    O: Hall is free from {time}, I've put our name in the book.
    A: Settled! Write the year on everything, please. Old parsnip seed is only good for the birds.
    """,
    """
    A: Free to a good home: bag of {veg} by the gate, about {n} kilos. Take some before I have to \
    make soup for the fourth time this week.
    B: Took a handful, thank you! They look perfect.
    C: Is there anything left?
    A: There's more {veg} on earth than people, {C}. Help yourself.
    C: [On my way.|Coming with a bag.|Five minutes.]
    A: Leave the crate, it belongs to {D}.
    D: The crate has been on more plots than I have.
    """,
    """
    A: Does anyone own a shredder? I've got a mountain of prunings and the skip is full.
    B: I do, but it's electric and the blade is blunt.
    C: The club one is in the container, left side, under the fleece. Ask {O} for the key.
    O: Key's with me. It needs two people and ear protectors, and no thicker than a thumb please.
    A: I can do {day} at {time} if somebody holds the other end.
    B: I'll help, if I can have some of the chips for my paths.
    A: You can have all the chips, {B}, I'd even carry them.
    """,
    """
    A: Manure delivery: {E}'s cousin has a trailer load of well-rotted stuff, {many} pounds the \
    lot, can come {day}. Who wants a share?
    B: Me, {n} barrows.
    C: Two barrows please, {plotC} is basically sand.
    D: How rotted is well-rotted? Last time we got a field of [thistles|couch grass|oats] with it.
    A: Three years under a tarp, {E} swears. I put my hand in: cold, black, smells of woodland.
    D: Then I'm in, {n2} barrows.
    O: Please have it tipped on the hardstanding and not in front of the gate. Ambulance access!
    A: Understood, hardstanding it is. Bring your own fork at {time}.
    """,
    """
    A: Which of you has the long ladder? The {fruit} at the top are laughing at me.
    B: It's chained behind the container, the code is the year the site opened.
    A: Which is...?
    B: Ha. Ask {O} privately 😉
    O: Sent you a message, {A}. Please never use it alone, somebody has to stand on the bottom rung.
    C: I'm here until {soon}, I'll be your ballast.
    """,
    """
    A: Bulk order of [fleece|netting|bamboo canes|seed potatoes]: if we get {many} together it's \
    a third cheaper. Say by {day} what you want.
    B: One roll for me.
    C: Two please. Can I pay you cash?
    A: Cash, transfer or {veg}.
    D: [I'll pay in {veg2}.|Is a marrow legal tender? One roll.|Put me down for one, paying like \
    an adult.]
    A: So that's {B} 1, {C} 2, {D} 1. Anyone else? I order at {time} on {day}.
    """,
    """
    A: The standpipe by plot {plot} isn't running again, just a cough of air.
    B: Same at the one near mine.
    O: They're working on the main in Canal Street, should be back by {soon}.
    A: Good. I thought I'd broken it.
    O: You did break it in [April|May], {A}, but this one is on the water company.
    A: 🙈
    C: There's plenty in the blue butts meanwhile, help yourselves. Just put the lids back, \
    because of the mosquitoes.
    """,
    """
    A: Would anybody water plot {plotA} while I'm away, {day} to the week after? Ten minutes, \
    every other evening.
    B: I can, I'm next to you anyway.
    A: You may eat everything that gets ripe while I'm gone.
    B: [Dangerous offer.|Even the {fruit}?|I'll hold you to that.]
    A: Especially the {fruit}. Tomatoes: at the foot, never over the leaves. And the {veg} twice \
    if it's over 28 degrees. I've drawn you a little map, it hangs inside my shed door together \
    with the key to the water butt, and there's a bar of chocolate for you in the tin.
    B: You had me at chocolate. Have a lovely time!
    """,
  ]
}
